"""Device functions whose result has another type in HIP.

CUDA's ``__popc`` gives an ``int``, HIP's an ``unsigned int`` (``amd_device_functions.h``), so that
``__popc(x) - n`` is negative in one and huge in the other. A cast keeps CUDA's type. Found by
running generated programs.

CUDA's ``__ffsll`` takes a ``long long`` and each integer with it; HIP's are two, which are
ambiguous for a ``long``: the ``uint64_t`` of Linux.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

RESULTS = {
    "__popc": "int",
    "__popcll": "int",
    "__ffs": "int",
    "__ffsll": "int",
    "__umul24": "unsigned int",
}
"""Function of both languages -> type of its result in CUDA."""

_WIDE = re.compile(r"\blong\s+long\b|\d[uU]?[lL][lL]|\d[lL][lL][uU]")
"""What shows that an argument is of one of HIP's two types."""
_ASSIGNED = re.compile(r"(?P<start>[^;{}]*)=\s*\Z")
_STATEMENT_CHARACTERS = 200


def cast_results(unit: Rewrite) -> None:
    """Cast what such functions give, where the type of the result can matter."""
    if unit.is_hip:
        return
    for word, type_ in RESULTS.items():
        offsets = unit.words.get(word, ())
        if not offsets or unit.declares(word):
            continue
        for offset in offsets:
            call = unit.call(offset, word)
            if call is None or unit.is_member(offset):
                continue
            if word == "__ffsll" and len(call[0]) == 1 and not _WIDE.search(unit.text(call[0][0])):
                start, end = call[0][0]
                unit.edits.insert(start, "static_cast<long long>(")
                unit.edits.insert(end, ")")
                unit.converted(offset)
            if not _is_cast(unit, offset, type_) and not _is_assigned(unit, offset, call[2]):
                unit.edits.insert(offset, f"({type_})")
                unit.converted(offset)


def _is_cast(unit: Rewrite, offset: int, type_: str) -> bool:
    before = unit.source.code[max(0, offset - 32) : offset]
    return re.search(rf"\(\s*{type_}\s*\)\s*\Z", before) is not None


def _is_assigned(unit: Rewrite, offset: int, closing: int) -> bool:
    """Whether the call is all that is assigned: the variable's type decides, unless deduced."""
    code = unit.source.code
    if not code.startswith(";", closing + 1):
        return False
    found = _ASSIGNED.search(code, max(0, offset - _STATEMENT_CHARACTERS), offset)
    return found is not None and not re.search(r"\bauto\b", found["start"])
