"""What is done about errors of clang that say nothing of whether a program has a port."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cass_ray.dataset.row import Reason
from cass_ray.toolchain import older_standard
from cass_ray.toolchain.amd.host_functions import NAMED, more_callable
from cass_ray.toolchain.given_headers import asks_for_newer_standard, with_headers
from cass_ray.toolchain.unit import CompileFailure, Unit

FOLDERS = (Path(__file__).parent / "overloads", older_standard.FOLDER)
_BOTH_SIDES = "(?:isnan|isinf|isfinite|rsqrtf?)"
_OVERLOADS = {
    "cass_half_log.h": re.compile(r"no viable conversion from 'const half' to '__hip_bfloat16'"),
    "cass_half_promotion.h": re.compile(r"__clang_hip_cmath\.h:\d+:\d+: error: call to '__test'"),
    "cass_bfloat16_shuffles.h": re.compile(r"error: call to '__shfl(?:_up|_down|_xor)?' is ambig"),
    "cass_host_math.h": re.compile(
        rf"reference to __device__ function '{_BOTH_SIDES}' in __host__ "
        rf"|error: no matching function for call to '{_BOTH_SIDES}'"
    ),
    "cass_rocprim_pairs.h": re.compile(
        r"rocprim/[^\n]*error: invalid operands to binary expression"
        r" \('const HIP_vector_type<unsigned int, 2>'"
    ),
    **older_standard.NEEDED,
}
"""Header -> what clang says of a unit that needs it."""
_ROUNDS = 6

T = TypeVar("T")


def has_remedy(failure: CompileFailure) -> bool:
    """Whether something is done about such a failure; it need not help."""
    said = failure.diagnostic
    match = NAMED.search(said) or any(says.search(said) for says in _OVERLOADS.values())
    asks = bool(match) or asks_for_newer_standard(said)
    return failure.reason is Reason.COMPILE_ERROR and asks


def with_remedies(make: Callable[[Unit], T], unit: Unit) -> T:
    """``make(unit)``, again with what its errors ask for, as long as there is something.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`: the first, where that does not help.
    """
    first: CompileFailure | None = None
    for _ in range(_ROUNDS):
        try:
            return make(unit)
        except CompileFailure as failure:
            first = first or failure
            if not has_remedy(failure):
                raise first from None
            said = failure.diagnostic
            further = with_headers(unit, said, _OVERLOADS, FOLDERS) or more_callable(unit, said)
            if further is None:
                raise first from None
            unit = further
    assert first is not None
    raise first


def recorded_flags(unit: Unit) -> tuple[str, ...]:
    """What a row's flags say of the remedies of ``unit``."""
    overloads = [word for name in unit.forced if name in _OVERLOADS for word in ("-include", name)]
    replaced = (f"[host functions callable: {path}]" for path, _ in unit.replaced)
    return (*overloads, *replaced)
