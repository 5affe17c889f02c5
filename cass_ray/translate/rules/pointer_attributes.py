"""``attributes.memoryType``, which CUDA took away and HIP 6 has under another name.

It says where memory is, of managed memory as well; its successor ``type`` says that memory is
managed.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

_FIELD = "memoryType"
_STRUCTURES = frozenset({"cudaPointerAttributes", "cudaPointerGetAttributes"})
_OBJECT = re.compile(r"(?<![\w.>])(?P<name>[A-Za-z_]\w*(?:(?:\.|->)\w+)*)(?P<by>\.|->)\Z")
_SET = re.compile(r"\s*=(?!=)")
_LOOK_BACK = 160


def rewrite_memory_types(unit: Rewrite) -> None:
    """Read the field by a function, in files that speak of its structure."""
    if not _STRUCTURES & unit.words.keys():
        return
    code = unit.source.code
    for offset in unit.words.get(_FIELD, ()):
        named = _OBJECT.search(code, max(0, offset - _LOOK_BACK), offset)
        end = offset + len(_FIELD)
        if named is None or offset in unit.handled or _SET.match(code, end):
            continue
        pointed = "*" if named["by"] == "->" else ""
        unit.edits.insert(named.start(), f"cass::memory_type({pointed}")
        unit.edits.replace(named.end("name"), end, ")")
        unit.snippets.add("memory_type")
        unit.converted(offset)
