"""Reductions over a block at a barrier: ``__syncthreads_count``, ``__syncthreads_and``, ``…_or``.

CUDA counts the threads that have not ended. HIP has the first lane of each wavefront add its sum
to what the first thread of the block has stored: where one of those has ended, the result is wrong
(``__ockl_wgred_add_i32`` and its like in ROCm's device library). HIP's function stays where no
thread can have ended; elsewhere a snippet does the same without relying on any one thread.

A thread ends by a ``return`` of its kernel. So HIP's function stays in a kernel without ``return``,
in a file all of whose macros are known, none of which has one. Who calls a function that is no
kernel is not known.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules import groups, tables
from cass_ray.translate.rules.regions import Spans, function_bodies
from cass_ray.translate.rules.rewrite import Rewrite
from cass_ray.translate.rules.text import Span

SNIPPET = "block_reductions"
REDUCTIONS = {
    f"__syncthreads_{operation}": f"cass::syncthreads_{operation}"
    for operation in ("and", "or", "count")
}
"""CUDA's and HIP's name -> that of the snippet."""
_OLD = {name.removeprefix("__"): name for name in REDUCTIONS}
"""Names without underscores, which CUDA has for the same."""

_QUALIFIER = re.compile(r"\bcass\s*::\s*\Z")
_MEMBER = re.compile(r"(?:\.|->|[\w>]::)\s*\Z")
"""What is before a member's name, but not before ``::name``."""
_KERNEL = "__global__"
_MAIN = (".cu", ".cc", ".cpp", ".cxx")
"""Files that are compiled by themselves: others may get macros from those that include them."""
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include\w*|import)[ \t]*(?P<open>[<\"]?)", re.MULTILINE)
_PATH = re.compile(r"[^\">\n]*")
_STANDARD = re.compile(
    r"[a-z_0-9]+"  # of C++
    r"|(?:assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal"
    r"|stdalign|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|time|uchar|wchar|wctype)\.h"
)
_RETURNING_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define\b(?:[^\n]*\\\r?\n)*?[^\n]*\breturn\b", re.MULTILINE
)


def rewrite_block_reductions(unit: Rewrite) -> None:
    """Replace HIP's function by the snippet's where threads may have ended."""
    if unit.is_hip:
        return
    names = {word: word for word in REDUCTIONS} | _OLD
    found = [
        (offset, word)
        for word in names
        if not (unit.is_own(word) if word in _OLD else unit.declares(word))
        for offset in unit.words.get(word, ())
        if not _MEMBER.search(unit.source.code, max(0, offset - 8), offset)
    ]
    if not found:
        return
    whole = _kernels_without_return(unit)
    for offset, word in found:
        name = names[word]
        if offset not in whole:
            unit.rename(offset, word, REDUCTIONS[name])
            unit.snippets.add(SNIPPET)
        elif word == name:
            unit.unchanged(offset)
        else:
            unit.rename(offset, word, name)


def _kernels_without_return(unit: Rewrite) -> Spans:
    """The bodies of kernels that all threads are in until its end."""
    if not _are_macros_known(unit):
        return Spans([])
    offsets = unit.words.get(_KERNEL, ())
    ends = [offset + len(_KERNEL) for offset in offsets if not _is_in_directive(unit, offset)]
    bodies = function_bodies(unit.source, ends)
    return Spans([body for body in bodies if not _returns(unit, body)])


def _returns(unit: Rewrite, body: Span) -> bool:
    return any(body[0] <= offset < body[1] for offset in unit.words.get("return", ()))


def _is_in_directive(unit: Rewrite, offset: int) -> bool:
    """Whether the word is part of a macro: what is declared behind it may be no kernel."""
    code = unit.source.code
    line = code.rfind("\n", 0, offset) + 1
    while code[max(0, line - 3) : line].rstrip().endswith("\\"):
        line = code.rfind("\n", 0, line - 1) + 1
    return code[line:offset].lstrip().startswith("#")


def _are_macros_known(unit: Rewrite) -> bool:
    """Whether no macro can have a ``return``: neither one of the file nor one that it includes."""
    if unit.filename and not unit.filename.endswith(_MAIN):
        return False
    if _RETURNING_MACRO.search(unit.source.code):
        return False
    return all(_is_vendors(unit, match) for match in _INCLUDE.finditer(unit.source.code))


def _is_vendors(unit: Rewrite, include: re.Match[str]) -> bool:
    """Whether the header is one of CUDA, C or C++; none of these has such a macro."""
    path = _PATH.match(unit.source.text, include.end())
    if not include["open"] or path is None or path[0] in unit.context.files:
        return False
    name = path[0].strip()
    known = tables.header(name) is not None or name in groups.HEADERS
    return known or _STANDARD.fullmatch(name) is not None


def restore_block_reductions(unit: Rewrite) -> None:
    """CUDA's functions again, where the file has the snippet and calls its functions."""
    text = tables.snippet(SNIPPET).replace("\n", unit.source.newline)
    start = unit.source.text.find(text)
    end = start + len(text) if start >= 0 else start
    is_called_otherwise = False
    for cuda, ours in REDUCTIONS.items():
        word = ours.removeprefix("cass::")
        for offset in unit.words.get(word, ()):
            lead = _QUALIFIER.search(unit.source.code, max(0, offset - 40), offset)
            if lead:
                unit.edits.replace(lead.start(), offset + len(word), cuda)
                unit.converted(offset)
            elif not start <= offset < end:
                is_called_otherwise = True
    if start >= 0 and not is_called_otherwise:
        unit.edits.replace(start, end, "")
        for offsets in unit.words.values():
            unit.handled.update(offset for offset in offsets if start <= offset < end)
