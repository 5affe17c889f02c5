"""CUDA 12's CUB and Thrust for units of which nvcc says that they lack something of theirs.

CUDA 13's compilers still read CUDA 12's headers. What is gone of them (``cub::Max``,
``thrust::identity``, iterators, headers, overloads) is listed at
https://nvidia.github.io/cccl/cccl/3.0_migration_guide.html.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.nvidia.hip_sources import with_hip
from cass_ray.toolchain.nvidia.removed_names import with_removed
from cass_ray.toolchain.provided.errors import HeadersError
from cass_ray.toolchain.provided.packages_table import HeaderPackage, packages
from cass_ray.toolchain.provided.store import HeaderStore
from cass_ray.toolchain.unit import CompileFailure, Unit

_OLDER_CCCL = "nvidia-cuda-cccl-cu12"

_CCCL = re.compile(
    r"error.*(?:\b(?:cub|thrust)(?:::|/|\")|\b(?:CUB|THRUST)_[A-Z]"
    r"|no member \"(?:(?:first_|second_)?argument|result)_type\")"
)

_LACKING = (Reason.COMPILE_ERROR, Reason.MISSING_HEADER)

T = TypeVar("T")


def older_cccl() -> HeaderPackage:
    """CUDA 12's last release of CUB, Thrust and libcu++."""
    return packages()[_OLDER_CCCL]


def lacks_cccl(failure: CompileFailure) -> bool:
    """Whether an error is about CUB or Thrust, so that CUDA 12's may have what is missing."""
    return failure.reason in _LACKING and bool(_CCCL.search(failure.diagnostic))


def with_what_was_removed(
    make: Callable[[Unit], T], unit: Unit, cache: Path, *, fetch: bool, hip_headers: bool = False
) -> T:
    """``make(unit)``, again with what newer releases of CUDA took away where the unit lacks it.

    ``hip_headers``: a unit in HIP gets HIP's headers for Nvidia (:mod:`.hip_sources`). Without
    ``fetch`` CUDA 12's CUB and Thrust are used where they are in ``cache``. Raises
    :class:`~cass_ray.toolchain.unit.CompileFailure`: what CUDA 13 says, where CUDA 12 would not
    have compiled the unit either.
    """
    first: CompileFailure | None = None
    while True:
        try:
            return make(unit)
        except CompileFailure as failure:
            given = with_removed(unit, failure.diagnostic)
            if hip_headers:
                given = with_hip(given, failure.diagnostic, fetch=fetch)
            if given == unit and first is not None:
                raise (first if failure.reason in _LACKING else failure) from None
            if given == unit:
                if not lacks_cccl(failure):
                    raise
                first = failure
                given = _with_older_cccl(unit, failure, cache, fetch)
            unit = given


def older_flags(unit: Unit) -> tuple[str, ...]:
    """What a row's flags say of CUDA 12's headers."""
    return (f"-I{older_cccl().key}/include",) if unit.before_toolchain else ()


def _with_older_cccl(unit: Unit, failure: CompileFailure, cache: Path, fetch: bool) -> Unit:
    """Raises a ``CompileFailure`` that is not remembered where the headers cannot be had."""
    store, package = HeaderStore(cache), older_cccl()
    try:
        if not fetch and not store.has(package):
            raise HeadersError("headers are not fetched here")
        store.fetch(package)
    except HeadersError as error:
        advice = f"CUDA 12 may have it: `cass setup headers {package.name}` fetches its headers"
        said = f"{failure.diagnostic}\n{advice} ({error})"
        raise CompileFailure(Reason.MISSING_HEADER, said, failure.tool) from None
    return replace(unit, before_toolchain=tuple(store.include_folders(package)))
