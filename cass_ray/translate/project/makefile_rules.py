"""Rules of makefiles by which nvcc compiles what is no CUDA source.

nvcc hands ``.cpp`` to the host's compiler unless ``-x cu`` is given, so that ``__CUDACC__`` is not
defined there; hipcc compiles it as HIP unless ``-x c++`` is.
"""

from __future__ import annotations

import re

HOST_RULE = re.compile(
    r"^[^\s#=:][^\n#=:]{0,400}:(?!=)[ \t]*[^\s:=#]{1,200}\.(?:cpp|cc|cxx)(?:[ \t][^\n]{0,999})?\n"
    r"(?:\t[^\n]{0,999}\n){1,9}",
    re.MULTILINE,
)
"""A rule whose first prerequisite is C++, and its recipe."""

_NVCC = re.compile(
    r"^(\t[@-]?(?:\$[({]\w*NVCC\w*[)}]|(?:\$[({]\w+[)}]/bin/)?nvcc))(?=\s)", re.MULTILINE
)
_COMPILES = re.compile(r"\s-c(?=\s|$)")
_LANGUAGE = re.compile(r"\s-x[ =]?\w|--x[ =]")


def compile_for_host(match: re.Match[str]) -> str:
    """The rule with ``-x c++`` for nvcc where it compiles without a language of its own."""
    lines = match.group().splitlines(keepends=True)
    return "".join(
        _NVCC.sub(r"\1 -x c++", line)
        if _COMPILES.search(line) and not _LANGUAGE.search(line)
        else line
        for line in lines
    )


_DEVICE_OBJECTS = re.compile(r"(?<![\w-])-{1,2}(?:dc|device-c)(?=\s|$)", re.MULTILINE)
_COMPILER = re.compile(r"^([ \t]*\w+[ \t]*[:?]?=[ \t]*hipcc)[ \t]*$", re.MULTILINE)


def link_device_code(original: str, text: str) -> str:
    """``text`` with a compiler that links device code, where ``original`` compiles it apart.

    nvcc looks for such code in whatever it links.
    """
    if not _DEVICE_OBJECTS.search(original):
        return text
    return _COMPILER.sub(r"\1 -fgpu-rdc --hip-link", text)
