"""HIP's headers for files that the host's compiler compiles, where a CMake project names no folder.

CUDA's are often found without one: in ``/usr/include``, or by ``CPATH``.
"""

from __future__ import annotations

import re

from cass_ray.translate.project.build_text import commands

_MISSING = re.compile(
    r"(?:hip\w*/[\w./]+|cuda(?:_runtime|_runtime_api)?\.h|cu(?:blas|fft|rand|solver|sparse)\w*\.h)"
    r": No such file or directory"
)
"""GCC's words, as clang knows where ROCm is. CUDA's names are in the source for both vendors, where
ROCm's target is what tells the two apart."""
_ENABLES = re.compile(r"project|enable_language", re.IGNORECASE)
_LINES = ("find_package(hip REQUIRED)", "link_libraries(hip::host)")


def is_missing_header(message: str) -> bool:
    """Whether a compiler says that a header of HIP's is not found."""
    return _MISSING.match(message) is not None


def give_headers(cmake: str) -> tuple[str, list[str]]:
    """The text of a CMake file with ROCm's target for all behind the command that enables HIP, and
    what was done."""
    for name, start, end in commands(cmake):
        if _LINES[1] in cmake:
            break
        if _ENABLES.fullmatch(name) and re.search(r"\bHIP\b", cmake[start:end]):
            begin = cmake.rfind("\n", 0, start) + 1
            indent = cmake[begin:start] if cmake[begin:start].isspace() else ""
            newline = "\r\n" if "\r\n" in cmake else "\n"
            lines = "".join(f"{newline}{indent}{line}" for line in _LINES)
            return cmake[:end] + lines + cmake[end:], [f"add {_LINES[1]}"]
    return cmake, []
