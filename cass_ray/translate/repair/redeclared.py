"""Declarations of members that clang refuses.

``CUDA_KERNEL_NODE_PARAMS`` and ``cudaKernelNodeParams`` are ``hipKernelNodeParams``, so that
overloads for both become the same declaration twice. And nvcc takes ``struct A { A::A(); };``.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText
from cass_ray.translate.rules.vectors import definition_start

_TWICE = "class member cannot be redeclared"
_QUALIFIED = "extra qualification on member"
_QUALIFICATION = re.compile(r"(?:\w+\s*(?:<[^<>]{0,200}>\s*)?::\s*){1,8}\Z")
_LONGEST_QUALIFICATION = 500
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


def unqualify_member(text: SourceText, edits: Edits, message: str, line: int, offset: int) -> str:
    """Leave out the class in front of a member's name, at ``offset``, in the class itself."""
    if not message.startswith(_QUALIFIED):
        return ""
    found = _QUALIFICATION.search(text.code, max(0, offset - _LONGEST_QUALIFICATION), offset)
    if found is None:
        return ""
    edits.replace(found.start(), offset, "")
    return f"leave out the class's name before its member on line {line}"
