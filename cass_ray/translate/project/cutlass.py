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
RECIPE = "1"
"""Part of the key of the translated headers: raise it when what is changed here changes."""

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
_VERSIONS = {
    # Of CUDA 11.8 are `cudaTypedefs.h` and attributes of launches, which HIP lacks.
    "cutlass/cuda_host_adapter.hpp": ("__CUDACC_VER_MINOR__", "7"),
    "cutlass/arch/wmma.h": ("__CUDACC_VER_MAJOR__", "0"),
}


def needs_translation(path: str) -> bool:
    """Whether the header at ``path`` is translated. Ten megabytes are tables of instructions of
    newer architectures, which conditions leave out as they stand."""
    return _TABLES.search(path) is None


def amended(path: str, text: str) -> str:
    """The header at ``path``, as it is included, before it is translated."""
    macro, value = _VERSIONS.get(path, ("", ""))
    text = text.replace(macro, value) if macro else text
    if _NEWER.search(path):
        text = _ASM.sub(_LEFT_OUT, text)
    return _NOT_IMPLEMENTED.sub(rf"\1 {_REFUSAL}", text)
