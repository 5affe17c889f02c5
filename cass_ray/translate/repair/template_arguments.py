"""Templates whose parameters are types and numbers, given for ``template <class...> class``.

nvcc takes a class template with further parameters that have defaults, numbers among them, for a
template template parameter of types; clang compares the lists of parameters. An alias template of
types stands in between: ``Alias<K, V>`` is the very type that ``Template<K, V>`` is.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_MESSAGE = "template template argument has different template parameters"
_NAME = re.compile(r"(?:::\s*)?\w+(?:\s*::\s*\w+)*")
_LAST_QUALIFIER = re.compile(r"(?:::\s*)?(?:\w+\s*::\s*)*\Z")
_CALLED = re.compile(r"(\w+)\s*\Z")
_TYPES = re.compile(r"template\s*<\s*(?:class|typename)\s*\.\.\.\s*\w*\s*>\s*(?:class|typename)\b")
_NAMESPACE = re.compile(r"(?:\bnamespace\b[\w\s:]*|\bextern\s*\"[^\"]*\"\s*)\Z")
_DIRECTIVE = re.compile(r"\s*#(?:[^\n\\]|\\.)*", re.DOTALL)
_ANGLE = re.compile(r"[<>,(){};]")


def name_types(text: SourceText, edits: Edits, message: str, notes: str, offset: int) -> str:
    """Give an alias of types where clang refuses the template at ``offset``, and wherever else
    the same template is given a template; says what was done, nothing where it has no fix."""
    place = _argument_at(text.code, offset)
    if _MESSAGE not in message or not _TYPES.search(notes) or place is None:
        return ""
    called, index = place
    done: dict[str, str] = {}
    pending = edits.apply(text.text)  # What an earlier error of the same kind has brought.
    for start, end in _arguments_of(text.code, called, index):
        written = text.code[start:end]
        spelled = re.sub(r"\s", "", written)
        if not _NAME.fullmatch(written) or spelled.startswith("cass_types"):
            continue
        alias = "cass_types_" + spelled.strip(":").replace("::", "_")
        if f"using {alias} =" in pending:
            continue
        if spelled not in done:
            where = _declaration(text, start)
            if where is None:
                continue
            done[spelled] = alias
            line = f"template <class... Types> using {alias} = {spelled}<Types...>;"
            edits.insert(where, line + text.newline)
        edits.replace(start, end, alias)
    names = ", ".join(done)
    return f"give {called} aliases with parameters that are types: {names}" if done else ""


def _argument_at(code: str, offset: int) -> tuple[str, int] | None:
    """The template whose argument the name at ``offset`` is, and the argument's number from 0."""
    before = _LAST_QUALIFIER.search(code, max(0, offset - 200), offset)
    position = before.start() if before else offset
    depth, index = 0, 0
    while position > 0:
        position -= 1
        mark = code[position]
        if mark in ">)}":
            depth += 1
        elif mark in "<({" and depth:
            depth -= 1
        elif mark == "<":
            called = _CALLED.search(code, max(0, position - 100), position)
            return (called[1], index) if called else None
        elif mark in "({;":
            return None
        elif mark == "," and depth == 0:
            index += 1
    return None


def _arguments_of(code: str, called: str, index: int) -> list[tuple[int, int]]:
    """Where argument ``index`` stands wherever ``called<…>`` is written."""
    found = []
    for match in re.finditer(rf"(?<!\w){re.escape(called)}\s*<", code):
        depth, number, start = 0, 0, match.end()
        for mark in _ANGLE.finditer(code, match.end()):
            ends = depth == 0 and mark[0] in ",>"
            if ends and number == index:
                span = code[start : mark.start()]
                lead = len(span) - len(span.lstrip())
                found.append((start + lead, start + len(span.rstrip())))
            if ends:
                number, start = number + 1, mark.end()
            if mark[0] in ";{}" or (depth == 0 and mark[0] in ">)"):
                break
            depth += (mark[0] in "<(") - (mark[0] in ">)")
    return found


def _declaration(text: SourceText, offset: int) -> int | None:
    """Where the declaration around ``offset`` begins at the scope of a namespace; None where
    its file does not say."""
    code = text.code
    start = 0
    for brace in reversed(text.enclosing_braces(offset)):
        if not _NAMESPACE.search(code, max(0, brace - 200), brace):
            break
        start = brace + 1
    position = start
    while position < offset:
        mark = code[position]
        closing = text.closing(position) if mark in "({[" else -1
        if closing >= offset:
            break
        if closing >= 0:
            position = closing
            mark = code[closing]
        if mark in ";}":
            start = position + 1
        position += 1
    while (directive := _DIRECTIVE.match(code, start)) and directive.end() <= offset:
        start = directive.end()
    space = re.compile(r"\s*").match(code, start)
    return space.end() if space else None
