"""Flags that keep a compiler's known miscompilations away."""

from __future__ import annotations

from collections.abc import Callable, Iterable

_DIVISION_MENDED = 20
"""LLVM's pull requests 116733 and 118928 are in this version."""
_LANES_MENDED = 20
"""LLVM's pull request 93526 is in this version."""

SPILLS_TO_MEMORY = "-amdgpu-spill-sgpr-to-vgpr=false"
"""LLVM's option for scalar registers that do not fit: not to lanes of vector registers."""

LlvmOptions = tuple[str, ...]
Made = tuple[str, float]
"""Device assembly, and CPU seconds."""
_SPILLED_TO_LANE = ": SGPR spill to VGPR lane"
"""What LLVM writes beside each vector register that it takes for that."""


def may_lose_lanes(clang_version: str, assembly: str) -> bool:
    """Whether device code by clang ``clang_version`` has to be made with :data:`SPILLS_TO_MEMORY`.

    A scalar register that is spilled is written to a lane of a vector register, also where that
    lane does not run. Before LLVM 20 such a register may be given to other values as well, where no
    lane that runs needs it: a lane that has left a loop early, or waits in the other branch, then
    finds a scalar in place of its value.
    """
    return int(clang_version.split(".")[0]) < _LANES_MENDED and _SPILLED_TO_LANE in assembly


def losing_no_lanes(
    clang_version: str, make: Callable[[LlvmOptions], Made]
) -> tuple[str, float, LlvmOptions]:
    """What ``make`` makes without options, or where that :func:`may_lose_lanes` with
    :data:`SPILLS_TO_MEMORY`; the seconds of all that it made, and the options of the last."""
    assembly, seconds = make(())
    if not may_lose_lanes(clang_version, assembly):
        return assembly, seconds, ()
    options = (SPILLS_TO_MEMORY,)
    assembly, more = make(options)
    return assembly, seconds + more, options


def as_flags(options: Iterable[str]) -> tuple[str, ...]:
    """Clang's flags that hand ``options`` on to LLVM."""
    return tuple(word for option in options for word in ("-mllvm", option))


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
