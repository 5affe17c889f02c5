"""CUDA's core libraries (CUB, Thrust, CCCL) as packages of CMake, and ROCm's in their place."""

from __future__ import annotations

import re

_PACKAGES = {
    "CUB": ("hipcub",),
    "Thrust": ("rocthrust",),
    "CCCL": ("rocthrust", "hipcub"),
}
_TARGETS = {
    "CUB::CUB": "hip::hipcub",
    "CCCL::CUB": "hip::hipcub",
    "Thrust::Thrust": "roc::rocthrust",
    "CCCL::Thrust": "roc::rocthrust",
    "CCCL::CCCL": "roc::rocthrust;hip::hipcub",
}
_TARGET = re.compile("|".join(rf"(?<!\w)(?<!::){name}(?!\w)" for name in _TARGETS))
_VARIABLE = re.compile(r"\b(CUB|Thrust|CCCL)_(FOUND|INCLUDE_DIRS?)\b")
_TAKES_SEVERAL = {"target_link_libraries", "link_libraries", "set", "list", "string"}
NAMED = re.compile(
    rf"{_TARGET.pattern}|\bfind_(?:package|dependency)\s*\(\s*(?:CUB|Thrust|CCCL)\b"
    r"|\bthrust_create_target\b",
    re.IGNORECASE,
)
"""What a file says that has one of them."""


def core_library(name: str, whole: str) -> str:
    """A command of CMake that finds or names a core library of CUDA's, for ROCm's.

    Versions and places of CUDA's packages go; targets of libcu++ stay, for ROCm has none.
    """
    lower, words = name.lower(), whole[whole.index("(") + 1 : -1].split()
    if lower in {"find_package", "find_dependency"} and words and words[0] in _PACKAGES:
        kept = "".join(f" {word}" for word in words[1:] if word in {"REQUIRED", "QUIET"})
        return "\n".join(f"{name}({package}{kept})" for package in _PACKAGES[words[0]])
    if lower == "thrust_create_target" and words:
        return (
            f"add_library({words[0]} INTERFACE)\n"
            f"target_link_libraries({words[0]} INTERFACE roc::rocthrust)"
        )
    several = lower in _TAKES_SEVERAL  # a condition or a property is of one target
    whole = _TARGET.sub(
        lambda match: _TARGETS[match[0]] if several else _TARGETS[match[0]].split(";")[-1], whole
    )
    return _VARIABLE.sub(lambda match: f"{_PACKAGES[match[1]][-1]}_{match[2]}", whole)
