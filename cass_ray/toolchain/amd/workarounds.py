"""Flags that keep a compiler's known miscompilations away."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cass_ray.toolchain.amd.lost_exits import lost_exits
from cass_ray.toolchain.amd.spilled_lanes import shared_registers

_UNSIGNED_DIVISION_MENDED = 20
"""LLVM's pull requests 116733 and 118928 are in this version."""
_SELECTION_MENDED = 23
"""LLVM's pull requests 203436, 204362, 209711 and 210348 of summer 2026 are in this version."""
_LANES_MENDED = 20
"""LLVM's pull request 93526 is in this version."""
_EXITS_MENDED = 20
"""LLVM's pull request 120121 is in this version."""

LlvmOptions = tuple[str, ...]
Made = tuple[str, float]
"""Device assembly, and CPU seconds."""

_SPILLS_TO_OWN_REGISTERS: LlvmOptions = (
    "-amdgpu-prealloc-sgpr-spill-vgprs",
    # Where a function keeps what those that it calls leave alone, there may be no such register.
    "-enable-ipra=0",
)
"""Scalars that do not fit go to lanes of registers that are chosen first, and kept for them."""
SPILLS_TO_MEMORY: LlvmOptions = (
    "-amdgpu-spill-sgpr-to-vgpr=false",
    # Else a scalar's place may be that of a vector, of which lanes that do not run have values.
    "-no-stack-slot-sharing",
)
"""They do not go to lanes of vector registers."""
WAYS_TO_SPILL: tuple[LlvmOptions, ...] = ((), _SPILLS_TO_OWN_REGISTERS, SPILLS_TO_MEMORY)
"""LLVM's options, in the order in which they are tried: the first code is the fastest."""
KEEPS_EXITS: LlvmOptions = ("-amdgpu-skip-threshold=0",)
"""No branch on an empty EXEC is deleted: see :mod:`cass_ray.toolchain.amd.lost_exits`."""


def right_code(
    clang_version: str, make: Callable[[LlvmOptions], Made], refusal: type[Exception]
) -> tuple[str, float, LlvmOptions]:
    """What ``make`` makes that loses neither lanes (:func:`losing_no_lanes`) nor exits of loops.

    Branches are deleted after registers are allocated, so that what is made again for them has its
    scalars in the same places. It is taken as it is: no pass of LLVM has deleted anything in it,
    and a program may have such an update of EXEC of its own.
    """
    text, seconds, options = losing_no_lanes(clang_version, make, refusal)
    if not may_lose_exits(clang_version, text):
        return text, seconds, options
    options = (*options, *KEEPS_EXITS)
    text, more = make(options)
    return text, seconds + more, options


def may_lose_exits(clang_version: str, assembly: str) -> bool:
    """Whether a wave may never leave a loop in device code by clang ``clang_version``."""
    affected = _major(clang_version) < _EXITS_MENDED
    return affected and any(True for _ in lost_exits(assembly))


def may_lose_lanes(clang_version: str, assembly: str) -> bool:
    """Whether device code by clang ``clang_version`` may overwrite what it needs again.

    A scalar register that is spilled is written to a lane of a vector register, also where that
    lane does not run. Before LLVM 20 such a register may be given to other values as well, where no
    lane that runs needs it: a lane that has left a loop early, or waits in the other branch, then
    finds a scalar in place of its value.
    """
    affected = _major(clang_version) < _LANES_MENDED
    return affected and any(True for _ in shared_registers(assembly))


def losing_no_lanes(
    clang_version: str, make: Callable[[LlvmOptions], Made], refusal: type[Exception]
) -> tuple[str, float, LlvmOptions]:
    """What ``make`` makes by the first of :data:`WAYS_TO_SPILL` that loses no lanes.

    ``make`` raises ``refusal`` where LLVM makes nothing: with a choice of registers of its own it
    may find none, and crash. With it are the seconds of all that was made, and the options of the
    last, which has nothing in lanes for longer than it takes to write them to memory.
    """
    seconds = 0.0
    for options in WAYS_TO_SPILL[:-1]:
        try:
            assembly, more = make(options)
        except refusal:
            if not options:
                raise
            continue
        seconds += more
        if not may_lose_lanes(clang_version, assembly):
            return assembly, seconds, options
    assembly, more = make(WAYS_TO_SPILL[-1])
    return assembly, seconds + more, WAYS_TO_SPILL[-1]


def as_flags(options: Iterable[str]) -> tuple[str, ...]:
    """Clang's flags that hand ``options`` on to LLVM."""
    return tuple(word for option in options for word in ("-mllvm", option))


ANY_VERSION = "0"
"""A clang of which nothing is known: what is done about any does no harm in others."""


def selects_wrong(clang_version: str) -> bool:
    """Whether operands are to be hidden: see :mod:`cass_ray.toolchain.amd.hidden_operands`."""
    return _major(clang_version) < _SELECTION_MENDED


def loses_values(clang_version: str) -> bool:
    """Whether code has to be looked at for lanes and for exits that are lost."""
    return _major(clang_version) < max(_LANES_MENDED, _EXITS_MENDED)


def _major(clang_version: str) -> int:
    return int(clang_version.split(".")[0])


def code_workarounds(clang_version: str) -> tuple[str, ...]:
    """Flags for each compilation to AMD code by clang ``clang_version`` ("19.1.7, ...").

    ``docs/compiler_faults.md`` has what each is for. HIPRTC of the emulator compiles with them too.
    """
    return as_flags(_code_options(clang_version))


def _code_options(clang_version: str) -> LlvmOptions:
    # SIPeepholeSDWA: before LLVM 20 a - b and b - a of parts of registers are merged (pull request
    # 106920), before 21 selections of selections are lost (123221); later versions combine those of
    # results wrongly (218512, which is not merged in any version that there is).
    options: LlvmOptions = ("-amdgpu-sdwa-peephole=0",)
    if _major(clang_version) < _UNSIGNED_DIVISION_MENDED:
        # AMDGPUCodeGenPrepare divides unsigned numbers of 64 bits as numbers of as few bits as both
        # have beside copies of their sign: wrong where that sign is negative.
        options = ("-amdgpu-codegenprepare-disable-idiv-expansion", *options)
    return options
