"""What ``printf`` of a kernel returns: the number of arguments in CUDA, of characters in HIP.

Only calls whose result is used are rewritten. Strings that are printed reach the host where clang
sees the format: a format that comes as a parameter is reported.
"""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
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
        start = offset
        if qualifier := _QUALIFIER.search(code, max(0, offset - 8), offset):
            start = qualifier.start()
            if "std" in qualifier[0]:  # where <cstdio> came before HIP's header, the host's alone
                unit.edits.replace(start, offset, "::")
        call = unit.call(offset, "printf")
        if call is not None and len(call[0]) > 1:
            _report_format(unit, offset, unit.text(call[0][0]))
        before = code[max(0, start - _LOOK_BACK) : start]
        if call is None or not call[0] or not (_USED.search(before) or _CAST.search(before)):
            continue
        packs = [_PACK.search(unit.text(span)) for span in call[0][1:]]
        count = [str(packs.count(None)), *(f"sizeof...({each[1]})" for each in packs if each)]
        unit.edits.insert(start, "(")
        unit.edits.insert(call[2] + 1, f", {' + '.join(count)})")
        unit.converted(offset)


def _report_format(unit: Rewrite, offset: int, format_: str) -> None:
    declared = rf"\bchar\s*(?:const\s*)?\*\s*(?:const\s+|__restrict__\s+)?{re.escape(format_)}\b"
    if not format_.isidentifier() or not re.search(declared, unit.source.code):
        return
    unit.report(
        offset,
        "printf",
        Severity.WARNING,
        f"the format {format_} is no literal: HIP prints an address in place of a string for %s",
        "write the format where it is printed, or print no strings",
    )
