"""Members that are declared once for each of two types of CUDA which are one type of HIP.

``CUDA_KERNEL_NODE_PARAMS`` and ``cudaKernelNodeParams`` are ``hipKernelNodeParams``, so that
overloads for both become the same declaration twice.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText
from cass_ray.translate.rules.vectors import definition_start

_TWICE = "class member cannot be redeclared"
_LABEL = re.compile(r"\s*(?:public|private|protected)\s*:(?!:)\s*")
_END = re.compile(r"[;{]")


def leave_out_second(text: SourceText, edits: Edits, message: str, line: int, offset: int) -> str:
    """Leave out the second declaration, at ``offset``; a second body is left to a person."""
    if not message.startswith(_TWICE):
        return ""
    start = definition_start(text.code, offset)
    if label := _LABEL.match(text.code, start):
        start = label.end()
    while text.code[start].isspace():
        start += 1
    end = _END.search(text.code, offset)
    if end is None or end[0] != ";" or edits.within(text.text, start, start):
        return ""
    edits.replace(start, end.end(), "")
    return f"leave out the second declaration of a member on line {line}"
