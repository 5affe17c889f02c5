"""Headers of devices in files that the host's compiler compiles.

CMake projects may name no folder for them: CUDA's are often found without one, in ``/usr/include``,
or by ``CPATH``. And Thrust's headers and CUB's for HIP are for HIP's compiler alone: such files
become HIP's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cass_ray.translate.project.build_text import commands

_MISSING = re.compile(
    r"(?:hip\w*/[\w./]+|cuda(?:_runtime|_runtime_api)?\.h|cu(?:blas|fft|rand|solver|sparse)\w*\.h)"
    r": No such file or directory"
)
"""GCC's words, as clang knows where ROCm is. CUDA's names are in the source for both vendors, where
ROCm's target is what tells the two apart."""
_FOR_DEVICES = re.compile(
    r"^(?P<at>[^:\n]+):\d+:\d+: fatal error: "
    r"(?:thrust|cub|hipcub|rocprim|cuda)/[\w./]+: No such file or directory$",
    re.MULTILINE,
)
"""GCC, which reads rocThrust as CUDA's Thrust, finds no headers of CUDA."""
_FROM = re.compile(r"(?:In file included|\s+) from (?P<file>[^:\n]+):\d+(?::\d+)?[,:]")
_OBJECT = re.compile(r"CMakeFiles/(?P<target>[^/\s]+)\.dir/(?:__/)*(?P<source>[^\s\]]+)\.o\b")
"""``__`` is CMake's name for the folder above the target's."""
_ENABLES = re.compile(r"project|enable_language", re.IGNORECASE)
_LINES = ("find_package(hip REQUIRED)", "link_libraries(hip::host)")


def is_missing_header(message: str) -> bool:
    """Whether a compiler says that a header of HIP's is not found."""
    return _MISSING.match(message) is not None


def units_for_devices(log: str) -> Iterator[str]:
    """The files whose compilation by GCC ended at a header of devices, as it names them."""
    for match in _FOR_DEVICES.finditer(log):
        unit = match["at"]
        lines = log[: match.start()].rstrip("\n").rsplit("\n", 1)
        if found := _FROM.fullmatch(lines[-1]):  # the last one is the outermost
            unit = found["file"]
        yield unit


def targets_of(log: str, source: str) -> list[str]:
    """The targets of CMake in whose build ``source``, by its path in the project, was compiled."""
    found = (
        match for match in _OBJECT.finditer(log) if f"/{source}".endswith(f"/{match['source']}")
    )
    return list(dict.fromkeys(match["target"] for match in found))


def make_hip(cmake: str, units: Mapping[str, list[str]]) -> tuple[str, list[str]]:
    """The text of a project's CMake file where ``units`` are files of HIP in these targets, and
    what was done."""
    newline = "\r\n" if "\r\n" in cmake else "\n"
    lines = [
        f"  set_source_files_properties(${{CMAKE_CURRENT_SOURCE_DIR}}/{unit}"
        f" TARGET_DIRECTORY {' '.join(targets)} PROPERTIES LANGUAGE HIP)"
        for unit, targets in units.items()
    ]
    lines = [line for line in lines if line not in cmake]
    if not lines:
        return cmake, []
    text = newline.join(["if(CMAKE_HIP_COMPILER)", *lines, "endif()", ""])
    begin = cmake if cmake.endswith("\n") else cmake + newline
    return begin + text, [f"compile {unit} as HIP" for unit in units]


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
