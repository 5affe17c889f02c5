"""What CUDA 12 and 13 took away, given back to units of which nvcc says that they lack it.

Texture references come from a header of ours. CUB and Thrust come from CUDA 12's own headers, which
CUDA 13's compilers still read: https://nvidia.github.io/cccl/cccl/3.0_migration_guide.html lists
what is gone (``cub::Max``, ``thrust::identity``, iterators, headers, overloads).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from cass_ray.dataset.schema import Reason
from cass_ray.toolchain.provided.errors import HeadersError
from cass_ray.toolchain.provided.packages_table import HeaderPackage, packages
from cass_ray.toolchain.provided.store import HeaderStore
from cass_ray.toolchain.unit import CompileFailure, Unit

REMOVED = Path(__file__).parent / "removed" / "cass_removed.h"
"""What CUDA 12 took away from its headers, its compilers have still, and older programs need."""
_OLDER_CCCL = "nvidia-cuda-cccl-cu12"

_TEXTURE = re.compile(
    r"error: (?:texture is not a template|identifier \"(?:texture|cuda(?:Unb|B)indTexture\w*)\")"
)
_CCCL = re.compile(
    r"error.*(?:\b(?:cub|thrust)(?:::|/|\")|\b(?:CUB|THRUST)_[A-Z]"
    r"|no member \"(?:(?:first_|second_)?argument|result)_type\")"
)

T = TypeVar("T")


def older_cccl() -> HeaderPackage:
    """CUDA 12's last release of CUB, Thrust and libcu++."""
    return packages()[_OLDER_CCCL]


def lacks_textures(failure: CompileFailure) -> bool:
    """Whether nvcc says that a unit wants what is in :data:`REMOVED`."""
    return failure.reason is Reason.COMPILE_ERROR and bool(_TEXTURE.search(failure.diagnostic))


def lacks_cccl(failure: CompileFailure) -> bool:
    """Whether an error is about CUB or Thrust, so that CUDA 12's may have what is missing."""
    reasons = (Reason.COMPILE_ERROR, Reason.MISSING_HEADER)
    return failure.reason in reasons and bool(_CCCL.search(failure.diagnostic))


def with_older_names(make: Callable[[Unit], T], unit: Unit, cache: Path, *, fetch: bool) -> T:
    """``make(unit)``, with what the unit lacks given back where that is why it fails.

    Without ``fetch`` CUDA 12's CUB and Thrust are used where they are in ``cache``. Raises
    :class:`~cass_ray.toolchain.unit.CompileFailure`: what CUDA 13 says, where CUDA 12 would not
    have compiled the unit either.
    """
    try:
        return make(unit)
    except CompileFailure as failure:
        first = failure
    if lacks_textures(first):
        unit = _with_textures(unit)
        try:
            return make(unit)
        except CompileFailure as failure:
            if not lacks_cccl(failure):
                raise
            first = failure
    if not lacks_cccl(first):
        raise first
    older = _with_older_cccl(unit, first, cache, fetch)
    try:
        return make(older)
    except CompileFailure as failure:
        if failure.reason in (Reason.COMPILE_ERROR, Reason.MISSING_HEADER):
            raise first from None
        raise


def recorded_flags(unit: Unit) -> tuple[str, ...]:
    """What a row's flags say of what was given back."""
    textures = ("-include", REMOVED.name) if REMOVED.name in unit.forced else ()
    cccl = (f"-I{older_cccl().key}/include",) if unit.before_toolchain else ()
    return (*textures, *cccl)


def _with_textures(unit: Unit) -> Unit:
    folders = (*unit.system_directories, REMOVED.parent)
    return replace(unit, system_directories=folders, forced=(REMOVED.name, *unit.forced))


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
