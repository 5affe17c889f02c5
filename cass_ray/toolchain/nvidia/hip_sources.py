"""Units that are written in HIP for both vendors, on the Nvidia side: HIP's headers for Nvidia.

A project may bring a copy of HIP's headers as a submodule, whose version header only its own build
writes and which CUDA 13 does not compile any more: those that are here stand in its place.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path, PurePosixPath

from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.nvidia_platform import (
    DEFINITIONS,
    FORCED_HEADER,
    hip_nvidia_include,
    is_fetched,
)
from cass_ray.toolchain.unit import Unit

_LACKS = re.compile(
    r"fatal error: hip/[\w./-]+: No such file|cannot open source file \"hip/[\w./-]+\""
    r"|could not open source file \"hip/[\w./-]+\""
)
_OF_HIP = "hip/hip_runtime.h"


def without_own_hip(root: Path, folders: tuple[PurePosixPath, ...]) -> tuple[PurePosixPath, ...]:
    """``folders`` of the tree at ``root`` without those that hold a copy of HIP's headers."""
    return tuple(each for each in folders if not (root / each / _OF_HIP).is_file())


def with_hip(unit: Unit, diagnostic: str, *, fetch: bool) -> Unit:
    """``unit`` with HIP's headers for Nvidia where nvcc's ``diagnostic`` says that it lacks one.

    Unchanged where they are not here; without ``fetch`` they are not fetched.
    """
    if FORCED_HEADER.name in unit.forced or _LACKS.search(diagnostic) is None:
        return unit
    if not fetch and not is_fetched():
        return unit
    try:
        include = hip_nvidia_include()
    except ToolMissing:
        return unit
    return replace(
        unit,
        include_directories=without_own_hip(unit.root, unit.include_directories),
        system_directories=(*unit.system_directories, include, FORCED_HEADER.parent),
        definitions=(*unit.definitions, *(each.removeprefix("-D") for each in DEFINITIONS)),
        forced=(FORCED_HEADER.name, *unit.forced),
    )


def hip_flags(unit: Unit) -> tuple[str, ...]:
    """The options that a row's flags show where ``unit`` was given HIP's headers for Nvidia."""
    return ("-include", FORCED_HEADER.name) if FORCED_HEADER.name in unit.forced else ()
