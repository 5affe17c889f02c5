"""CUTLASS' headers as the AMD side compiles them: those for ``sm_80``, translated.

The instructions that they multiply matrices with there have translations (``mma``, ``ldmatrix``,
``cp.async``). Code of newer architectures is left out by CUTLASS' own conditions, as nvcc leaves it
out for ``sm_80``; classes of WMMA are left out as well. What CUTLASS does not implement ends a
program by a trap: here it is refused where it becomes machine code.
"""

from __future__ import annotations

import re

PACKAGE = "nvidia-cutlass"
ARCHITECTURE = 800
RECIPE = "4"
"""Part of the key of the translated headers: raise it when what is changed here changes."""

_OWN = re.compile(r"(?:^|/)include/((?:cutlass|cute)/.+)")
_NEWER = re.compile(r"_sm(?:9|1[0-9])\d")
_TABLES = re.compile(r"sm90_gmma|copy_sm100|/mma_sm90\.")
_ASM = re.compile(r"\basm(?=(?:\s+volatile)?\s*\((?!\"\"))")
_LEFT_OUT = "cass_asm_of_newer_architectures"
_NOT_IMPLEMENTED = re.compile(
    r"(#[ \t]*define (?:CUTE_INVALID_CONTROL_PATH|CUTLASS_NOT_IMPLEMENTED)\(\w*\)).*brkpt.*"
)
_REFUSAL = (
    '({ __attribute__((device, error("cass-ray: CUTLASS does not implement this for sm_80"))) '
    "void cass_refused_cutlass(); cass_refused_cutlass(); })"
)
_MINOR_VERSION = "__CUDACC_VER_MINOR__"
_BEFORE_LAUNCH_ATTRIBUTES = "7"
"""CUDA 11.8 has `cudaTypedefs.h`, clusters and attributes of launches, which HIP lacks."""
_MAJOR_VERSION = "__CUDACC_VER_MAJOR__"
_HINTED = re.compile(
    r"^[ \t]*#[ \t]*if CUTLASS_ENABLE_L2_PREFETCH[^\n]*\n[^#]*"
    r"#[ \t]*else[^\n]*\n([^#]*)#[ \t]*endif[^\n]*\n",
    re.MULTILINE,
)
"""Conditions inside of an ``asm`` statement; what they choose is a hint to Nvidia's caches."""
_MISSPELT = ("set_slice3x3", "set_slice_3x3")
"""Up to release 3.5: nvcc does not look into a template that nobody uses."""
_WITHOUT_WMMA = ("cutlass/arch/wmma.h", "0")


def inside(path: str) -> str:
    """The name by which the header of CUTLASS at ``path`` is included; empty for other files."""
    found = _OWN.search(path)
    return found[1] if found else ""


def needs_translation(name: str) -> bool:
    """Whether the header is translated. Ten megabytes are tables of instructions of newer
    architectures, which conditions leave out as they stand."""
    return _TABLES.search(name) is None


def amended(name: str, text: str) -> str:
    """The header that is included by ``name``, before it is translated."""
    text = text.replace(_MINOR_VERSION, _BEFORE_LAUNCH_ATTRIBUTES).replace(*_MISSPELT)
    text = _HINTED.sub(r"\1", text)
    if name == _WITHOUT_WMMA[0]:
        text = text.replace(_MAJOR_VERSION, _WITHOUT_WMMA[1])
    if _NEWER.search(name):
        text = _ASM.sub(_LEFT_OUT, text)
    return _NOT_IMPLEMENTED.sub(rf"\1 {_REFUSAL}", text)
