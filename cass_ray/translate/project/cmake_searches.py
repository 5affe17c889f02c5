"""CMake asks before a build: it searches for headers of CUDA's and compiles sources on trial."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from cass_ray.translate.rules import standard_library, tables

_SEARCHES = frozenset(
    {
        *("find_path", "find_file"),
        *("check_include_file", "check_include_files", "check_include_file_cxx"),
    }
)
_HEADER = re.compile(r"(?<![\w./${}-])(?:[\w-]+/)*[\w-]+(?:\.(?:h|hpp|cuh))?(?![\w./${}-])")
_TRIED = re.compile(r'(?<![^\s("])[^\s()"]+\.cu(?=[\s")])')
_INSTEAD = "hip/hip_version.h"
"""For libcu++'s: translated sources do without them, wherever the folder is."""


def searches(name: str, whole: str) -> str:
    """The command ``whole``; one that searches a header of CUDA's searches HIP's."""
    return _HEADER.sub(_counterpart, whole) if name.lower() in _SEARCHES else whole


def on_trial(name: str, whole: str) -> str:
    """The command ``whole``; a ``.cu`` file that it compiles on trial is copied to a ``.hip``.

    ``try_compile`` and ``try_run`` know a file's language by its name alone.
    """
    if name.lower() not in {"try_compile", "try_run"}:
        return whole
    copies = dict[str, str]()
    for path in _TRIED.findall(whole):
        copies[path] = f"${{CMAKE_CURRENT_BINARY_DIR}}/CMakeFiles/{PurePosixPath(path).stem}.hip"
    made = _TRIED.sub(lambda path: copies[path[0]], whole)
    lines = [f'configure_file("{path}" "{copy}" COPYONLY)\n' for path, copy in copies.items()]
    return "".join(lines) + made


def _counterpart(match: re.Match[str]) -> str:
    path = match[0]
    found = tables.header(path) if "." in path or "/" in path else None
    if found is None or not found.hip:
        return path
    return _INSTEAD if found.library == standard_library.LIBRARY else found.hip
