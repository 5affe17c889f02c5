"""Libraries among a project's files that ask for HIP's compiler themselves: these stay."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_MARKS = {
    "Eigen/src/Core/util/Macros.h": b"EIGEN_HIPCC",
    "glm/simd/platform.h": b"GLM_COMPILER_HIP",
}
"""A file of the library, below the folder that is included -> what it says where it knows HIP."""
_BESIDE = {"Eigen": ("unsupported/Eigen",)}


def hip_aware(root: Path, names: Iterable[str]) -> frozenset[str]:
    """Those of the files ``names`` below ``root`` that belong to such a library.

    Their branches for CUDA are another compiler's: translated, both would be taken.
    """
    names = list(names)
    folders: list[str] = []
    for name in names:
        for file, mark in _MARKS.items():
            if f"/{name}".endswith(f"/{file}") and mark in (root / name).read_bytes():
                top = file.partition("/")[0]
                base = name[: -len(file)]
                folders += [f"{base}{each}/" for each in (top, *_BESIDE.get(top, ()))]
    return frozenset(name for name in names if name.startswith(tuple(folders)))
