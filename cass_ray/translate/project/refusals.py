"""Errors of a translation, written into the translated file for the compiler to find.

A header belongs to many units, and which of its lines are code of a unit the preprocessor decides:
conditions, macros, the command line. So what has no translation there gets a line
``#pragma GCC error`` before it: a unit that compiles this place is refused with the finding, and a
unit that leaves it out is not. An ``asm`` statement is a call of a function with clang's attribute
``error`` in its place, and so is a call of an intrinsic that HIP lacks: a unit is refused where it
becomes machine code, and one that never calls the function around it is not. nvcc, too, sees inline
PTX only then.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from cass_ray.translate.project import cutlass
from cass_ray.translate.project.declarations import MACROS
from cass_ray.translate.protocol import NO_CONTEXT, Context, Finding, Translation, Translator
from cass_ray.translate.rules.text import SourceText, opaque, split_mark

UNKNOWN_NAME = (
    *("looks like CUDA and is not known", "has no counterpart in HIP"),
    "the namespace cutlass does not exist in HIP",
)
"""Ends of messages about names that HIP does not declare. CUTLASS' headers are given to the AMD
side of projects (:mod:`cass_ray.translate.project.cutlass`)."""

_MARK = "cass-ray: "
_SAID = re.compile(
    rf"error: (?:call to '[^']*' declared with 'error' attribute: )?{_MARK}(.*)$", re.MULTILINE
)
_ASM = re.compile(
    r"(?:asm|__asm|__asm__)\s*(?:(?:volatile|__volatile__|__volatile)\s*)?\(|__[a-z]\w*\s*\("
)
_INTRINSIC = re.compile(r"__[a-z]\w* has no counterpart")
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|elif|else|endif)", re.MULTILINE)
_CONDITION = re.compile(r"[ \t]*#[ \t]*(?:el)?if")
_NOT_IN_A_STRING = re.compile(r'[^ -~]|["\\]')


def left_to_the_compiler(finding: Finding, source: str) -> bool:
    """Whether ``finding`` is about a name that HIP does not declare, outside of conditions.

    Where the project's own command leaves that code out, the name does no harm; where it does not,
    the HIP side does not compile. In a condition an unknown name would be false without a word,
    unless a header of both sides defines it.
    """
    if not finding.message.endswith(UNKNOWN_NAME):
        return False
    line = source.splitlines()[finding.line - 1 : finding.line]
    return not (line and _CONDITION.match(line[0])) or MACROS.match(finding.message) is not None


@dataclass(frozen=True)
class RefusingTranslator:
    """``translator``, whose errors are in the text that it gives as well.

    With ``names_are_known`` those that are :func:`left_to_the_compiler` are not, but for calls of
    intrinsics in functions.
    """

    translator: Translator
    names_are_known: bool = False

    @property
    def name(self) -> str:
        return self.translator.name

    @property
    def version(self) -> str:
        return self.translator.version

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        """Translate as the protocol says; findings are those of the text as it was given.

        Headers of CUTLASS are translated in a way of their own.
        """
        if name := cutlass.inside(filename):
            source = cutlass.amended(name, source)
            if not cutlass.needs_translation(name):
                return Translation(source)
            context = replace(context, cuda_architecture=cutlass.ARCHITECTURE)
        made = self.translator.translate(source, filename=filename, context=context)
        errors = [each for each in made.errors if not self._left_out(each, source, context)]
        if not errors:
            return made
        marked = with_errors(source, errors, filename, calls_alone=self.names_are_known)
        again = self.translator.translate(marked, filename=filename, context=context)
        return replace(made, source=again.source)

    def _left_out(self, finding: Finding, source: str, context: Context) -> bool:
        if not (self.names_are_known and left_to_the_compiler(finding, source)):
            return False
        word = finding.construct
        own = word in context.declared or re.search(rf"\b{word}\s*\([^;{{}}]*\)\s*{{", source)
        return bool(own) or not _INTRINSIC.match(finding.message)


def with_errors(
    source: str, findings: Iterable[Finding], filename: str, *, calls_alone: bool = False
) -> str:
    """``source`` with something for each of ``findings`` that a compiler takes for an error.

    It stands in place of an ``asm`` statement, else before the logical line of the finding; of a
    condition that is not the first of its chain, before the chain. With ``calls_alone`` there is
    nothing for an intrinsic that is not called there.
    """
    byte_order_mark, text = split_mark(source)
    seen = SourceText(text)
    spans = [match.span() for match in opaque(text)]
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    places: dict[tuple[int, int], list[str]] = {}
    for finding in findings:
        offset = starts[min(max(finding.line, 1), len(starts)) - 1]
        message = _MARK + _NOT_IN_A_STRING.sub("'", finding.format(filename))
        if (statement := _statement(seen, offset + finding.column - 1)) is not None:
            places[statement] = [_refused_call(message)]
            continue
        if calls_alone and _INTRINSIC.match(finding.message):
            continue
        place = _place(seen, spans, offset)
        line = f'#pragma GCC error "{message}"{seen.newline}'
        places.setdefault((place, place), []).append(line)
    pieces, done = [byte_order_mark], 0
    for (start, end), texts in sorted(places.items()):
        if start < done:
            continue  # inside of a statement that is refused as a whole
        pieces += (text[done:start], *dict.fromkeys(texts))
        done = end
    return "".join((*pieces, text[done:]))


def _statement(seen: SourceText, offset: int) -> tuple[int, int] | None:
    """The ``asm`` statement, or the call of an intrinsic, that begins at ``offset`` in a function,
    up to its parenthesis."""
    found = _ASM.match(seen.code, max(offset, 0))
    closing = seen.closing(found.end() - 1) if found else -1
    in_a_macro = seen.code.startswith("#", _first_character(seen, offset))
    if closing < 0 or not (in_a_macro or seen.enclosing_braces(offset)):
        return None
    return offset, closing + 1


def _first_character(seen: SourceText, offset: int) -> int:
    start = seen.logical_line(offset)
    return start + len(seen.code[start:]) - len(seen.code[start:].lstrip(" \t"))


def _refused_call(message: str) -> str:
    name = f"cass_refused_{hashlib.sha256(message.encode()).hexdigest()[:12]}"
    attributes = f'__attribute__((host, device, error("{message}")))'
    return f"({{ {attributes} void {name}(); {name}(); }})"


def errors_said(diagnostic: str) -> str:
    """The findings among a compiler's messages, each on a line; empty for none."""
    return "\n".join(dict.fromkeys(match[1].strip() for match in _SAID.finditer(diagnostic)))


def _place(seen: SourceText, spans: list[tuple[int, int]], offset: int) -> int:
    place = _outside(seen, spans, offset)
    found = _CONDITIONAL.match(seen.code, place)
    if found is None or found[1] == "if":
        return place
    depth = 1
    for directive, start in _conditionals_before(seen.code, place):
        depth += {"endif": 1, "if": -1}.get(directive, 0)
        if depth == 0:
            return _outside(seen, spans, start)
    return place


def _outside(seen: SourceText, spans: list[tuple[int, int]], offset: int) -> int:
    """The beginning of a logical line at or before ``offset`` that is in no comment or literal."""
    place = seen.logical_line(offset)
    for start, end in reversed(spans):
        if start < place < end:
            place = seen.logical_line(start)
    return place


def _conditionals_before(code: str, place: int) -> Iterator[tuple[str, int]]:
    found = [(match[1], match.start()) for match in _CONDITIONAL.finditer(code, 0, place)]
    yield from reversed(found)
