"""Functions that nvcc takes on a side where clang does not: what each of its passes looks at.

nvcc leaves out bodies of the other side; clang reads them in both passes. So a device function may
call, while the host's side is compiled, what ``__CUDA_ARCH__`` declares for that pass alone. A
template of the host may call a constructor of the device: nvcc's host code has its initializers and
not its body.
"""

from __future__ import annotations

import re

from cass_ray.translate.repair.attributes import DECLARED, widen_declaration
from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText
from cass_ray.translate.rules.vectors import definition_start

HOST_FROM_DEVICE = "call to __host__ function from __device__ function"
CANDIDATE = re.compile(
    rf"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): note: candidate function not viable: "
    rf"{HOST_FROM_DEVICE}$",
    re.MULTILINE,
)
"""Clang's note at the declaration; its error is at the call, perhaps in another file."""
DEVICE_FROM_HOST = "call to __device__ function from __host__ function"
CONSTRUCTOR = re.compile(
    rf"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): note: candidate constructor not viable: "
    rf"{DEVICE_FROM_HOST}$",
    re.MULTILINE,
)
_INITIALIZER = re.compile(r"\s*[:,]\s*(?:[\w:]+(?:<[^<>(){};]{0,200}>)?)\s*(?=[({])")
_EMPTY = re.compile(r"\s*\{\s*\}")
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)", re.MULTILINE)
_PASS = re.compile(
    r"\s*(?P<no>!)?\s*(?:defined\b\s*)?\(?\s*(?:__HIP_DEVICE_COMPILE__|__CUDA_ARCH__)"
)
_DECLARED = re.compile(r"\s*(?:noexcept\s*)?;")


def give_both_sides(text: SourceText, edits: Edits, message: str, line: int, offset: int) -> str:
    """A declaration of the host's pass alone gets both sides: no device code comes of it."""
    start, opening = definition_start(text.code, offset), text.code.find("(", offset)
    closing = text.closing(opening) if opening >= 0 else -1
    if (
        HOST_FROM_DEVICE not in message
        or closing < 0
        or not _DECLARED.match(text.code, closing + 1)
        or text.code[text.code.rfind("\n", 0, start) + 1 : start].strip()
        or not _of_the_hosts_pass(text.code[:start])
    ):
        return ""
    lines = ("#ifdef __HIPCC__", "__host__ __device__", "#endif", "")
    edits.insert(text.code.rfind("\n", 0, start) + 1, text.newline.join(lines))
    return f"give the function on line {line}, which the host's pass alone sees, both sides"


def give_host_side(text: SourceText, edits: Edits, message: str, line: int, offset: int) -> str:
    """A constructor of the device with an empty body is the host's as well, as nvcc takes it."""
    opening = text.code.find("(", offset) if message == DEVICE_FROM_HOST else -1
    end = text.closing(opening) + 1 if opening >= 0 else 0
    while end and (found := _INITIALIZER.match(text.code, end)):
        end = text.closing(found.end()) + 1
    if not end or not _EMPTY.match(text.code, end):
        return ""
    return widen_declaration(text, edits, DECLARED, line, offset)


def _of_the_hosts_pass(before: str) -> bool:
    """Whether what follows ``before`` is left out while device code is compiled."""
    open_: list[bool | None] = []
    for match in _DIRECTIVE.finditer(before):
        word, condition = match.groups()
        if word == "endif":
            open_[-1:] = []
        elif word in {"else", "elif"}:
            last = open_[-1] if open_ else None
            open_[-1:] = [None if last is None or word == "elif" else not last]
        else:
            found = _PASS.match(condition)
            denied = found is not None and (found["no"] is not None) != (word == "ifndef")
            open_.append(denied if found else None)
    return any(state is True for state in open_)
