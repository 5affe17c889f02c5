"""Flags of nvcc and what hipcc has in their place."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from cass_ray.translate.project.make_expressions import REFERENCE

_REFERENCE = REFERENCE[1:-1]
_VALUE = r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"')>;]+)"
"""The value of an option, quoted for the shell or not."""
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _rule(pieces: list[str], hipcc: str) -> tuple[re.Pattern[str], str]:
    pattern = "".join(pieces).replace("@VALUE@", _VALUE).replace("@REFERENCE@", _REFERENCE)
    return re.compile(rf"(?<![\w-]){pattern}"), hipcc


FLAG_RULES = [_rule(*entry) for entry in _TABLE["flags"]]
_DEBUG = r"(?<![\w-])(?:-G|--device-debug)(?=[\s\"';)>]|$)"
DEVICE_DEBUG = re.compile(rf"^(?!.*\bcmake\b)(.*){_DEBUG}", re.MULTILINE)
NAMED_ARCHITECTURE = re.compile(
    r"^(.*(?:\bhipcc\b|NVCC).*?)(?<![\w-])-arch\s+\$(?:\(\w+\)|\{\w+\})", re.MULTILINE
)
"""In a line of make for nvcc; a host's compiler may have an ``-arch`` of its own."""
IN_CMAKE = (
    (re.compile(_DEBUG), "-g"),
    (re.compile(r"(?<![\w-])-arch(?:\s+|;)\$\{\w+\}"), ""),
)
"""In flags of the HIP language alone: clang's ``-G`` takes a number, its ``-arch`` is a Mac's."""
_OLD = r"(-std(?:=|\s+)(?:c|gnu)\+\+)(?:0x|11|1y|14)\b"
STANDARD = (
    # rocPRIM, hipCUB and rocThrust want C++17, as CUB and Thrust of CUDA 13 do.
    (re.compile(r"\b((?:CMAKE_)?HIP_STANDARD\s+)(?:98|03|11|14)\b"), r"\g<1>17"),
    (re.compile(r"\bhip_std_(?:98|03|11|14)\b"), "hip_std_17"),
    (re.compile(rf"^(.*(?:CMAKE_HIP_FLAGS|NVCC|hipcc).*){_OLD}", re.MULTILINE), r"\1\g<2>17"),
)
"""The C++ of device code, where the project asks for an older one."""
OLD_STANDARD = re.compile(_OLD)

HOST_OPTIONS = re.compile(
    r"-{1,2}(?:Xcompiler|compiler-options)(?:=|\s+)([\"'])(?P<options>[^\"'\n]{0,999})\1"
)
"""Options of the host's compiler, one word of a shell for nvcc."""
HOST_WORD = re.compile(
    r"(?<![\w-])-{1,2}(?:Xcompiler|compiler-options)(?:=|\s+)(?P<options>-[^\s\"']*,[^\s\"']*)"
)
"""Several options of the host's compiler between commas, of which nvcc makes words."""
HOST_TEXT = re.compile(
    r"(?<![\w-])-{1,2}(?:Xcompiler|compiler-options)(?:=|\s+)"
    r"\\\"(?P<options>[^\"\\\n]{0,999})\\\""
)
"""Options of the host's compiler in quotes within a text of CMake."""
LEFT = re.compile(
    r"(?<![\w-])(?:-{1,2}(?:gencode|generate-code)[ =]+arch=compute_\w*"
    r"|-{1,2}(?:gencode|generate-code|gpu-architecture|gpu-code|ptxas-options|maxrregcount"
    r"|nvlink-options|compiler-options|relocatable-device-code|rdc|device-c|device-link|dlink|ptx"
    r"|diag-suppress|expt-[\w-]+|output-directory|odir|lib)(?![\w-])"
    r"|-X(?:compiler|ptxas|fatbin|cudafe|nvlink|archive)(?![\w-])"
    r"|-{1,2}(?:arch|code)=(?!gfx|x86|arm|i\d86|native)[^\s\"')]+|-arch\s+(?:sm|compute)_?"
    r"|arch=compute_\w*)"
)
"""What only nvcc understands."""
