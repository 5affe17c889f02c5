"""Macros of HIP's runtime header with plain names, which CUDA's headers leave to programs."""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

_DEPRECATED = "DEPRECATED"
_ASKED = re.compile(r"#[ \t]*(?:ifndef|define)[ \t]+\Z|defined[ \t]*\(?[ \t]*\Z")
_DEFINE = re.compile(r"#[ \t]*define[ \t]+\Z")
_VALUE = re.compile(r"\w+\s*=(?!=)")
_TYPE = re.compile(
    r"\b(?:const|constexpr|int|unsigned|long|short|char|bool|float|double|auto|\w+_t)\s+\Z"
)
_LOOK_BACK = 24
_NAMES = (
    *("MASK1", "MASK2", "HW_ID", "ICMP_NE", "GETREG_IMMED", "ADDRESS_SPACE_CONSTANT"),
    *("GENERIC_GRID_LAUNCH", "USE_PEER_NON_UNIFIED"),
)
"""Those of hip_runtime.h of HIP 6.2 (``clang -dM``) that a program may give to something else; its
own functions have used them by then."""
_OWN_INLINE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+inline\b(?!\()(?P<value>(?:\\\r?\n|[^\n])*)"
    r"(?P<under_it>.*?)(?:^[ \t]*#[ \t]*undef[ \t]+inline\b|\Z)",
    re.MULTILINE | re.DOTALL,
)
_FORCED, _CUDAS_FORCED = "__forceinline__", "__inline__ __attribute__((always_inline))"
"""HIP's macro says ``inline``, CUDA's (host_defines.h) says what no program redefines."""


_MAPPING = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<cuda>cu\w+)[ \t]+(?P<hip>hip\w+)[ \t]*$", re.MULTILINE
)


def keep_mappings(unit: Rewrite) -> None:
    """Leave ``#define cudaMalloc hipMalloc``, a project's own way to HIP, as it is: a macro of the
    new name would hide HIP's own (``hipDeviceProp_t``)."""
    unit.handled.update(match.start("cuda") for match in _MAPPING.finditer(unit.source.code))


def free_names(unit: Rewrite) -> None:
    """Take HIP's macros away where a file defines, or asks for, something of their names."""
    keep_mappings(unit)
    if unit.is_hip:
        return
    code = unit.source.code
    deprecated = unit.words.get(_DEPRECATED)
    if deprecated is not None:
        offset = deprecated[0]
        if _ASKED.search(code, max(0, offset - _LOOK_BACK), offset):
            # hip_runtime_api.h defines both: where the other one is, this one is HIP's.
            lines = (
                "#ifdef DEPRECATED_MSG",
                "#undef DEPRECATED",
                "#undef DEPRECATED_MSG",
                "#endif",
            )
            _insert(unit, offset, *lines)
    for name in _NAMES:
        offsets = unit.words.get(name) or []
        defines = any(_DEFINE.search(code, max(0, at - _LOOK_BACK), at) for at in offsets)
        if not defines and any(_is_declared(code, at) for at in offsets):
            _insert(unit, offsets[0], f"#undef {name}")
    for own in _OWN_INLINE.finditer(code) if _FORCED in unit.words else ():
        for offset in unit.words[_FORCED]:
            if own.start("value") <= offset < own.end("under_it"):
                unit.rename(offset, _FORCED, _CUDAS_FORCED)


def _is_declared(code: str, offset: int) -> bool:
    """Whether the word at ``offset`` is a variable behind its type, or has its value behind it, as
    an enumerator or a further variable."""
    before = code[max(0, offset - _LOOK_BACK) : offset]
    if _TYPE.search(before):
        return True
    return before.rstrip().endswith(("{", ",")) and _VALUE.match(code, offset) is not None


def _insert(unit: Rewrite, offset: int, *lines: str) -> None:
    text = "".join(line + unit.source.newline for line in lines)
    unit.edits.insert(unit.source.logical_line(offset), text)
    unit.converted(offset)
