"""What ``printf`` of a kernel returns: the number of arguments in CUDA, of characters in HIP.

Only calls whose result is used are rewritten.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

_USED = re.compile(r"(?:[=(,+\-*/%<>!&|?\[]|\b(?:return|case))\s*\Z")
_CAST = re.compile(r"\(\s*(?:unsigned|int|long|size_t|bool|float|double)[\w\s]*\)\s*\Z")
_QUALIFIER = re.compile(r"(?<![\w>])(?:std\s*)?::\s*\Z")
_PACK = re.compile(r"(\w+)\s*\.\.\.\Z")
_LOOK_BACK = 60


def rewrite_printf(unit: Rewrite) -> None:
    """Give the result of ``printf`` in device code CUDA's meaning, where it is used."""
    if unit.is_hip or unit.is_own("printf"):
        return
    code = unit.source.code
    for offset in unit.words.get("printf", ()):
        if offset not in unit.device:
            continue
        call = unit.call(offset, "printf")
        start = offset
        if qualifier := _QUALIFIER.search(code, max(0, offset - 8), offset):
            start = qualifier.start()
        before = code[max(0, start - _LOOK_BACK) : start]
        if call is None or not call[0] or not (_USED.search(before) or _CAST.search(before)):
            continue
        packs = [_PACK.search(unit.text(span)) for span in call[0][1:]]
        count = [str(packs.count(None)), *(f"sizeof...({each[1]})" for each in packs if each)]
        unit.edits.insert(start, "(")
        unit.edits.insert(call[2] + 1, f", {' + '.join(count)})")
        unit.converted(offset)
