"""What is done about errors of clang that say nothing of whether a program has a port."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from cass_ray.dataset.schema import Reason
from cass_ray.toolchain.amd.host_functions import NAMED, more_callable
from cass_ray.toolchain.unit import CompileFailure, Unit

HALF_LOG = Path(__file__).parent / "overloads" / "cass_half_log.h"
_HALF_LOG_ERROR = "no viable conversion from 'const half' to '__hip_bfloat16'"
_ROUNDS = 6

T = TypeVar("T")


def has_remedy(failure: CompileFailure) -> bool:
    """Whether something is done about such a failure; it need not help."""
    said = failure.diagnostic
    known = _HALF_LOG_ERROR in said or NAMED.search(said)
    return failure.reason is Reason.COMPILE_ERROR and bool(known)


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
            further = _with_half_log(unit, failure) or more_callable(unit, failure.diagnostic)
            if further is None:
                raise first from None
            unit = further
    assert first is not None
    raise first


def recorded_flags(unit: Unit) -> tuple[str, ...]:
    """What a row's flags say of the remedies of ``unit``."""
    overload = ("-include", HALF_LOG.name) if HALF_LOG.name in unit.forced else ()
    replaced = (f"[host functions callable: {path}]" for path, _ in unit.replaced)
    return (*overload, *replaced)


def _with_half_log(unit: Unit, failure: CompileFailure) -> Unit | None:
    if _HALF_LOG_ERROR not in failure.diagnostic or HALF_LOG.name in unit.forced:
        return None
    folders = (*unit.system_directories, HALF_LOG.parent)
    return replace(unit, system_directories=folders, forced=(HALF_LOG.name, *unit.forced))
