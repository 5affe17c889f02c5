"""Flags that keep a compiler's known miscompilations away."""

from __future__ import annotations

_DIVISION_MENDED = 20
"""LLVM's pull requests 116733 and 118928 are in this version."""


def divides_wrong(clang_version: str) -> bool:
    """Whether dividends have to be hidden as well: see :mod:`cass_ray.toolchain.amd.divisions`."""
    return int(clang_version.split(".")[0]) < _DIVISION_MENDED


def code_workarounds(clang_version: str) -> tuple[str, ...]:
    """Flags for each compilation to AMD code by clang ``clang_version`` ("19.1.7, ...").

    Before LLVM 20, AMDGPUCodeGenPrepare divides unsigned numbers of 64 bits as numbers of as few
    bits as both have beside copies of their sign: wrong where that sign is negative.
    """
    if not divides_wrong(clang_version):
        return ()
    return ("-mllvm", "-amdgpu-codegenprepare-disable-idiv-expansion")
