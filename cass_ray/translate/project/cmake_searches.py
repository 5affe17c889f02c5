"""CMake's searches for headers of CUDA's: ``find_path``, ``find_file``, ``check_include_file``."""

from __future__ import annotations

import re

from cass_ray.translate.rules import standard_library, tables

_SEARCHES = frozenset(
    {
        *("find_path", "find_file"),
        *("check_include_file", "check_include_files", "check_include_file_cxx"),
    }
)
_HEADER = re.compile(r"(?<![\w./${}-])(?:[\w-]+/)*[\w-]+(?:\.(?:h|hpp|cuh))?(?![\w./${}-])")
_INSTEAD = "hip/hip_version.h"
"""For libcu++'s: translated sources do without them, wherever the folder is."""


def searches(name: str, whole: str) -> str:
    """The command ``whole``; one that searches a header of CUDA's searches HIP's."""
    return _HEADER.sub(_counterpart, whole) if name.lower() in _SEARCHES else whole


def _counterpart(match: re.Match[str]) -> str:
    path = match[0]
    found = tables.header(path) if "." in path or "/" in path else None
    if found is None or not found.hip:
        return path
    return _INSTEAD if found.library == standard_library.LIBRARY else found.hip
