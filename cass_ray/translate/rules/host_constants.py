"""Constants of the device that host code reads.

nvcc gives the host a copy of a ``__constant__`` or ``__device__`` variable that is ``const``; what
clang gives it has no value. For the host such a variable becomes one of its own: where functions
of the host may read it, by the file's functions, or by others of what includes a header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cass_ray.translate.rules.regions import Spans, function_bodies
from cass_ray.translate.rules.rewrite import Rewrite

SNIPPET = "host_constants"
_MACRO = "CASS_ON_DEVICE"
_WORDS = ("__constant__", "__device__")
_ATTRIBUTES = re.compile(rf"\b(?:{'|'.join(_WORDS)})(?:[ \t]+(?:{'|'.join(_WORDS)}))*\b")
_ALIGNMENT = re.compile(r"\b(?:alignas|__align__)\s*\([^()]*\)")
_END = re.compile(r"[=;{}()]")
_EXTERN = re.compile(r"\bextern\b")
_CONST = re.compile(r"\bconst(?:expr)?\b")
_NOT_CONST = re.compile(r"[*&]|\b(?:volatile|struct|class|union|enum|namespace|operator)\b")
_NAME = re.compile(r"(\w+)\s*(?:\[[^\[\]]*\]\s*)*\Z")
_SPECIFIERS = re.compile(
    r"[ \t]*#[ \t]*define[ \t]+\w+(?:[ \t]+(?:static|inline|const|constexpr|__constant__"
    r"|__device__))+[ \t]*\Z"
)
_SYMBOL = re.compile(r"\bcuda\w*Symbol\w*\s*\([^;]*\Z")
_LOOK = 2000
"""The longest declaration without its value."""
_COMPILED = frozenset({".cu", ".c", ".cc", ".cpp", ".cxx"})


def give_host_constants(unit: Rewrite) -> None:
    """Leave the attributes of such constants to the device's side."""
    if unit.is_hip or not any(word in unit.words for word in _WORDS):
        return
    found = list(_constants(unit.source.code))
    names = {name for _, _, name in found if name}
    of_device = _device_bodies(unit) if names else Spans([])
    stays = {name for name in names if not _host_may_read(unit, name, of_device)}
    for start, end, name in found:
        if name in stays:
            continue
        unit.edits.replace(start, end, f"{_MACRO}({unit.source.code[start:end]})")
        unit.converted(start)
        unit.snippets.add(SNIPPET)


def _constants(code: str) -> Iterator[tuple[int, int, str]]:
    """Where attributes of ``const`` variables stand, and the variable's name; none in macros that
    stand for such words."""
    for match in _ATTRIBUTES.finditer(code):
        line = code.rfind("\n", max(0, match.start() - _LOOK), match.start()) + 1
        stop = code.find("\n", match.end(), match.end() + _LOOK)
        whole = code[line : stop if stop >= 0 else match.end() + _LOOK]
        if whole.lstrip().startswith("#"):
            if _SPECIFIERS.match(whole) and _CONST.search(whole) and _WORDS[0] in whole:
                yield *match.span(), ""
            continue
        name = _declared(code, match.start(), match.end())
        if name:
            yield *match.span(), name


def _declared(code: str, start: int, end: int) -> str:
    """The name of the ``const`` variable whose attributes are there, with its value or as one of
    another place; or nothing."""
    begin = _begin(code, start)
    while (skipped := _ALIGNMENT.search(code, end, end + 200)) and not _END.search(
        code, end, skipped.start()
    ):
        end = skipped.end()
    stop = _END.search(code, end, end + _LOOK)
    if stop is None or stop[0] not in "={;":
        return ""
    head = _ALIGNMENT.sub("", code[begin : stop.start()]).rpartition("\n#")[2]
    if stop[0] == ";" and not _EXTERN.search(head):
        return ""
    name = _NAME.search(head)
    is_constant = _CONST.search(head) and not _NOT_CONST.search(head)
    return name[1] if name and is_constant else ""


def _begin(code: str, offset: int) -> int:
    """Where the declaration begins that has a word at ``offset``."""
    first = max(0, offset - _LOOK)
    return max(first, *(code.rfind(mark, first, offset) + 1 for mark in ";{}"))


def _host_may_read(unit: Rewrite, name: str, of_device: Spans) -> bool:
    code = unit.source.code
    uses = [offset for offset in unit.words.get(name, ()) if not _is_declarator(code, offset, name)]
    if any(_SYMBOL.search(code, max(0, offset - 200), offset) for offset in uses):
        return False
    is_header = PurePosixPath(unit.filename).suffix.lower() not in _COMPILED
    return is_header or any(offset not in of_device for offset in uses)


def _is_declarator(code: str, offset: int, name: str) -> bool:
    begin = _begin(code, offset)
    return bool(_ATTRIBUTES.search(code, begin, offset)) and "(" not in code[begin:offset]


def _device_bodies(unit: Rewrite) -> Spans:
    """The bodies of functions that the device alone has."""
    code = unit.source.code
    ends = sorted(
        offset + len(word)
        for word in ("__global__", "__device__")
        for offset in unit.words.get(word, ())
    )
    alone = []
    for start, end in function_bodies(unit.source, ends):
        head = code[_begin(code, start) : start]
        if ("__global__" in head or "__device__" in head) and "__host__" not in head:
            alone.append((start, end))
    return Spans(alone)
