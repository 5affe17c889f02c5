"""Repair from compiler diagnostics: compile, read the errors, apply fixes, keep the best state.

The fixes are rules that only ever add: an ``#include``, a cast, a keyword. No code is removed, so
that a repair cannot make a program compile by making it do less. The loop ends when the file
compiles, when no rule knows an error, or after ``attempts`` rounds; the best state is returned.

Where no rule knows an error a model may be asked; what it proposes must keep every kernel.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from cass_ray.corpus.parsing.kernels import kernel_definitions
from cass_ray.translate.repair.attributes import (
    other_declarations,
    specialized_template,
    widen_declaration,
    widen_specialization,
)
from cass_ray.translate.repair.builtin_indices import name_index_types
from cass_ray.translate.repair.constants import (
    assign_where_nothing_does,
    make_plain_constant,
    name_no_object,
)
from cass_ray.translate.repair.declared_later import declare_before
from cass_ray.translate.repair.device_pointers import count_bytes, drop_const
from cass_ray.translate.repair.half_assignments import convert_halves, name_assigned_type
from cass_ray.translate.repair.host_math import name_standard_function
from cass_ray.translate.repair.main_status import return_success
from cass_ray.translate.repair.operators import leave_own_operator, own_operators
from cass_ray.translate.repair.redeclared import leave_out_second, unqualify_member
from cass_ray.translate.repair.sides import (
    CANDIDATE,
    CONSTRUCTOR,
    DEVICE_FROM_HOST,
    HOST_FROM_DEVICE,
    give_both_sides,
    give_host_side,
)
from cass_ray.translate.repair.standard_headers import add_header, pending
from cass_ray.translate.repair.template_arguments import name_types
from cass_ray.translate.repair.variable_arrays import fill_variable_array, take_old_stack_size
from cass_ray.translate.rules import thrust_headers
from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText
from cass_ray.translate.rules.vectors import GUARD, definition_start

Compile = Callable[[str], str]
"""Compiles a source; returns the compiler's messages, or nothing when it compiled."""

Propose = Callable[[str, str], str | None]
"""Corrects a source after the compiler's messages; None where it has no idea."""

_ERROR = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<message>.*)$",
    re.MULTILINE,
)
_MOST_ERRORS = 100
"""Errors that one round looks at. Clang stops after 20; a source can make it print what looks like
more."""

_NO_CONVERSION = re.compile(
    r"no known conversion from '[^'\n]{0,999}'(?: \(aka [^)\n]{0,999}\))? to "
    r"'(?P<type>const void \*|void \*\*)'(?: \(aka [^)\n]{0,999}\))? "
    r"for (?P<number>\d{1,3})(?:st|nd|rd|th) argument"
)


@dataclass(frozen=True, slots=True)
class CompilerDiagnostic:
    """One error; ``notes`` is the text between it and the next error."""

    file: str
    line: int
    column: int
    message: str
    notes: str


@dataclass(frozen=True, slots=True)
class RepairStep:
    """One round: how many errors there were, and what was done about them."""

    errors: int
    fixes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repaired:
    """The best state, whether it compiles, what its compiler said, and how it came about."""

    source: str
    compiles: bool
    diagnostic: str
    steps: tuple[RepairStep, ...]


def diagnostics(messages: str) -> list[CompilerDiagnostic]:
    """The errors in the output of clang or gcc."""
    matches = list(islice(_ERROR.finditer(messages), _MOST_ERRORS))
    ends = [*(match.start() for match in matches[1:]), len(messages)][: len(matches)]
    return [
        CompilerDiagnostic(
            match["file"],
            int(match["line"]),
            int(match["column"]),
            match["message"],
            messages[match.end() : end],
        )
        for match, end in zip(matches, ends, strict=True)
    ]


def at_declarations(items: list[CompilerDiagnostic]) -> list[CompilerDiagnostic]:
    """The errors of ``items`` whose cause is a declaration, at the place of that."""
    places = [
        (found["file"], int(found["line"]), int(found["column"]), said)
        for item in items
        for noted, said in ((CANDIDATE, HOST_FROM_DEVICE), (CONSTRUCTOR, DEVICE_FROM_HOST))
        for found in noted.finditer(item.notes)
    ]
    for item in items:
        places += own_operators(item.message, item.notes)
        places += other_declarations(item.message, item.notes)
    return [CompilerDiagnostic(*place, "") for place in dict.fromkeys(places)]


def repair(
    source: str,
    compile_source: Compile,
    *,
    filename: str,
    attempts: int,
    propose: Propose | None = None,
) -> Repaired:
    """Compile ``source`` and fix what the rules know, at most ``attempts`` times.

    Only errors in ``filename`` itself are fixed: a header is another file's business. Where the
    rules know none of them, ``propose`` is asked.
    """
    steps: list[RepairStep] = []
    best = source
    messages = compile_source(source)
    errors = diagnostics(messages)
    best_messages, best_errors = messages, errors
    for _ in range(attempts):
        if not messages:
            break
        places = [item for item in [*errors, *at_declarations(errors)] if _is_in(item, filename)]
        source, fixes = apply_fixes(source, places)
        if not fixes and propose is not None:
            source, fixes = _proposed(source, messages, propose)
        steps.append(RepairStep(len(errors), tuple(fixes)))
        if not fixes:
            break
        messages = compile_source(source)
        errors = diagnostics(messages)
        # A compiler stops after some number of errors, and an early one hides later ones: the
        # same number further down is progress.
        if not messages or _progress(errors) >= _progress(best_errors):
            best, best_messages, best_errors = source, messages, errors
    return Repaired(best, not best_messages, best_messages, tuple(steps))


def _proposed(source: str, messages: str, propose: Propose) -> tuple[str, list[str]]:
    """The proposal, unless it is none, changes nothing or lacks a kernel."""
    proposed = propose(source, messages)
    if proposed is None or proposed == source:
        return source, []
    missing = set(kernel_definitions(source)) - set(kernel_definitions(proposed))
    return (source, []) if missing else (proposed, ["as a model proposed"])


def _is_in(item: CompilerDiagnostic, filename: str) -> bool:
    return item.file == filename or item.file.endswith("/" + filename)


def _progress(errors: list[CompilerDiagnostic]) -> tuple[int, int]:
    return (errors[0].line, -len(errors)) if errors else (0, 0)


def apply_fixes(source: str, errors: list[CompilerDiagnostic]) -> tuple[str, list[str]]:
    """``source`` with what the rules know for ``errors``, and what was done.

    A place is edited once: each instantiation of a template and each unit that includes a header
    reports it anew.
    """
    text = SourceText(source)
    edits = Edits()
    fixes: list[str] = []
    edited: set[tuple[int, int]] = set()
    for item in errors:
        if (item.line, item.column) in edited:
            continue
        offset = text.offset(item.line, item.column)
        for fix in _RULES:
            done = fix(text, edits, item, offset)
            if done and done not in fixes:
                fixes.append(done)
            if done:
                edited.add((item.line, item.column))
                break
    return edits.apply(source), fixes


Fix = Callable[[SourceText, Edits, CompilerDiagnostic, int], str]
"""Makes edits for a diagnostic at an offset and says what was done; nothing when it has no fix."""


def _add_header(text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int) -> str:
    return add_header(text, edits, item.message, item.notes)


def _add_thrust_header(
    text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int
) -> str:
    found = re.search(r"no (?:member|template) named '(\w+)' in namespace 'thrust'", item.message)
    if found is None or found[1] not in thrust_headers.HEADER_OF:
        return ""
    directive = f"#include <thrust/{thrust_headers.HEADER_OF[found[1]]}.h>"
    if directive in text.text or directive in pending(edits, text):
        return ""
    first = re.search(r"^[ \t]*#[ \t]*include\b", text.code, re.MULTILINE)
    edits.insert(first.start() if first else 0, directive + text.newline)
    return f"add {directive}"


def _cast_argument(text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int) -> str:
    found = _NO_CONVERSION.search(item.notes) or _NO_CONVERSION.search(item.message)
    if found is None:
        return ""
    opening = text.code.find("(", offset)
    parsed = text.arguments(opening) if opening >= 0 else None
    number = int(found["number"]) - 1
    if parsed is None or number >= len(parsed[0]):
        return ""
    start, end = parsed[0][number]
    kind = found["type"].replace(" *", "*")
    edits.insert(start, f"({kind})(")
    edits.insert(end, ")")
    return f"cast argument {number + 1} on line {item.line} to {kind}"


def _add_keyword(text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int) -> str:
    for phrase, keyword in (
        ("explicit qualification required to use member", "this->"),
        ("missing 'typename' prior to dependent type", "typename "),
        ("use 'template' keyword to treat", "template "),
        ("missing 'template' keyword prior to dependent template name", "template "),
    ):
        if phrase in item.message:
            edits.insert(offset, keyword)
            return f"add {keyword.strip()} on line {item.line}"
    return ""


def _cast_narrowed(text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int) -> str:
    found = re.search(
        r"cannot be narrowed (?:from type '.*' )?to '?(?:type )?'?([\w ]+)'", item.message
    )
    if found is None:
        return ""
    end, depth = offset, 0
    while end < len(text.code):
        mark = text.code[end]
        if mark in ",}" and depth == 0:
            break
        depth += (mark in "([{") - (mark in ")]}")
        end += 1
    edits.insert(offset, f"static_cast<{found[1]}>(")
    edits.insert(end, ")")
    return f"cast on line {item.line} to {found[1]}"


def _unify_extremes(text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int) -> str:
    if not re.search(r"call to '(?:min|max)' is ambiguous", item.message):
        return ""
    parsed = text.arguments(text.code.find("(", offset))
    if parsed is None or len(parsed[0]) != 2:
        return ""
    (a, b), (c, d) = parsed[0]
    kind = f"decltype(({text.text[a:b]}) + ({text.text[c:d]}))"
    for start, end in parsed[0]:
        edits.insert(start, f"({kind})(")
        edits.insert(end, ")")
    return f"give both arguments on line {item.line} one type"


def _widen_specialization(
    text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int
) -> str:
    place = specialized_template(item.notes, item.file)
    candidate = text.offset(*place) if place else -1
    return widen_specialization(text, edits, item.notes, item.line, offset, candidate)


def _hide_default(text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int) -> str:
    """nvcc takes a default outside of the class template that declares the function without it."""
    if "default arguments cannot be added to an out-of-line definition" not in item.message:
        return ""
    start = text.code.find("=", offset)
    end, depth = start, 0
    while 0 <= end < len(text.code):
        mark = text.code[end]
        if mark in ",)" and depth == 0:
            edits.insert(start, "/* ")
            edits.insert(end, " */")
            return f"leave out a default argument on line {item.line}"
        depth += (mark in "([{") - (mark in ")]}")
        end += 1
    return ""


_NEGATIVE_SHIFT = re.compile(r"-(?P<number>\d+)\s*<<\s*(?:\w+|(?=\())")


def _shift_positive(text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int) -> str:
    """``-1 << n`` is ``-(1 << n)``, and no constant before C++20; nvcc takes it for one."""
    if "left shift of negative value" not in item.notes:
        return ""
    end = text.code.find("\n", offset)
    found = _NEGATIVE_SHIFT.search(text.code, offset, end if end >= 0 else len(text.code))
    if found is None:
        return ""
    closing = text.closing(found.end()) + 1 if text.code.startswith("(", found.end()) else 0
    edits.insert(found.start("number"), "(")
    edits.insert(closing or found.end(), ")")
    return f"shift a positive number on line {item.line}"


_ONE_LITERAL = re.compile(
    "C\\+\\+11 requires a space between literal and identifier"
    "|string literal with user-defined suffix cannot be used here"
)


def _part_literal(text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int) -> str:
    """``"%"PRId64``, ``extern "C"__global__``: nvcc and g++ warn of it, clang takes the word for a
    suffix."""
    if not _ONE_LITERAL.search(item.message):
        return ""
    edits.insert(offset, " ")
    return f"part a literal from the name behind it on line {item.line}"


def _list_no_arguments(
    text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int
) -> str:
    """``a.template f(x)`` names a template without its list of arguments, which nvcc takes."""
    if (
        "template argument list is expected after a name prefixed by the template"
        not in item.message
    ):
        return ""
    name = re.compile(r"\w+").match(text.code, offset)
    if name is None:
        return ""
    edits.insert(name.end(), "<>")
    return f"give the template on line {item.line} an empty list of arguments"


_AGAIN = re.compile(
    r"redefinition of 'atomic\w+'"
    r"|functions that differ only in their return type cannot be overloaded"
)


def _leave_own_atomic(text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int) -> str:
    """HIP has atomic functions for ``unsigned long`` and others that programs add to CUDA's."""
    name = re.compile(r"atomic[A-Z]\w*").match(text.code, offset)
    if name is None or not _AGAIN.search(item.message) or "/hip/amd_detail/" not in item.notes:
        return ""
    parameters = text.closing(text.code.find("(", name.end()))
    body = re.compile(r"\s*(\{|;)").match(text.code, parameters + 1) if parameters >= 0 else None
    end = text.closing(body.end() - 1) if body and body[1] == "{" else body and body.end() - 1
    if not end or end < 0:
        return ""
    start = definition_start(text.code, offset)
    edits.insert(start, f"{text.newline}#ifndef {GUARD}  // HIP has it{text.newline}")
    edits.insert(end + 1, f"{text.newline}#endif{text.newline}")
    return f"leave {name[0]} on line {item.line} to HIP"


_SHARED = re.compile(
    r"__shared__\s+(?P<aligned>(?:(?:__align__|alignas)\s*\([^();]{0,99}\)\s*)?)"
    r"(?P<type>(?:const\s+)?[\w:]+(?:\s*<[^;{}()]{0,200}>)?)\s+"
    r"(?P<name>\w+)\s*(?P<extents>(?:\[[^;\[\]]{0,200}\]\s*)*);"
)


def _leave_shared_memory(
    text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int
) -> str:
    """nvcc leaves out what a constructor would store in shared memory, and warns of it."""
    if "initialization is not supported for __shared__ variables" not in item.message:
        return ""
    start = text.code.rfind("__shared__", 0, offset)
    found = _SHARED.match(text.code, start) if start >= 0 else None
    if found is None or not found.start("name") <= offset < found.end("name"):
        return ""
    parts = (text.text[slice(*found.span(part))].strip() for part in found.groupdict())
    aligned, kind, name, extents = parts
    memory = f"cass_memory_of_{name}"
    aligned += " " if aligned else ""
    reference = f"(&{name}){extents}" if extents else f"&{name}"
    edits.replace(
        start,
        found.end(),
        f"alignas({kind}) {aligned}__shared__ unsigned char {memory}[sizeof({kind}{extents})]; "
        f"{kind} {reference} = reinterpret_cast<{kind} (&){extents}>({memory});",
    )
    return f"leave shared memory on line {item.line} as it is"


def _name_types(text: SourceText, edits: Edits, item: CompilerDiagnostic, offset: int) -> str:
    return name_types(text, edits, item.message, item.notes, offset)


def _by_message(mend: Callable[[SourceText, Edits, str, int, int], str]) -> Fix:
    """The fix ``mend``, which needs only the message and the line of a diagnostic."""
    return lambda text, edits, item, offset: mend(text, edits, item.message, item.line, offset)


def _with_notes(mend: Callable[[SourceText, Edits, str, str, int, int], str]) -> Fix:
    """The fix ``mend``, which needs the notes of a diagnostic, too."""
    return lambda text, edits, item, offset: mend(
        text, edits, item.message, item.notes, item.line, offset
    )


_RULES: tuple[Fix, ...] = (
    _by_message(leave_out_second),
    _by_message(unqualify_member),
    _by_message(name_standard_function),
    _name_types,
    _part_literal,
    _list_no_arguments,
    _by_message(take_old_stack_size),
    _by_message(fill_variable_array),
    _shift_positive,
    _hide_default,
    _leave_shared_memory,
    _leave_own_atomic,
    _by_message(leave_own_operator),
    _widen_specialization,
    _by_message(widen_declaration),
    _by_message(give_both_sides),
    _by_message(give_host_side),
    _add_keyword,
    _cast_argument,
    _by_message(convert_halves),
    _by_message(name_assigned_type),
    _by_message(count_bytes),
    _by_message(drop_const),
    _by_message(return_success),
    _with_notes(name_index_types),
    _with_notes(declare_before),
    _with_notes(make_plain_constant),
    _with_notes(name_no_object),
    _by_message(assign_where_nothing_does),
    _unify_extremes,
    _cast_narrowed,
    _add_header,
    _add_thrust_header,
)
