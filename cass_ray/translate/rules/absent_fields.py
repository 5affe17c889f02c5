"""Fields of CUDA's structures that HIP's lack.

``memoryType`` says where memory is, of managed memory as well; HIP 6 has ``type`` alone, which says
that memory is managed. Of a texture's description one field is a hint, and one is refused where the
program asks for it.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

_TYPE = "memoryType"
_ATTRIBUTES = frozenset({"cudaPointerAttributes", "cudaPointerGetAttributes"})
_OF_TEXTURES = {
    "disableTrilinearOptimization": "(void)",
    "seamlessCubemap": "cass::refuse_seamless_cubemaps",
}
_OBJECT = re.compile(r"(?<![\w.>])(?P<name>[A-Za-z_]\w*(?:(?:\.|->)\w+)*)(?P<by>\.|->)\Z")
_SET = re.compile(r"\s*=(?!=)")
_STATEMENT = re.compile(r"[^;{}]{1,200};")
_LOOK_BACK = 160


def rewrite_absent_fields(unit: Rewrite) -> None:
    """Read and set them by functions, in files that speak of their structures."""
    if _ATTRIBUTES & unit.words.keys():
        for offset in unit.words.get(_TYPE, ()):
            _read_memory_type(unit, offset)
    if "cudaTextureDesc" in unit.words:
        for field, call in _OF_TEXTURES.items():
            for offset in unit.words.get(field, ()):
                _set_texture_field(unit, offset, field, call)


def _object(unit: Rewrite, offset: int) -> re.Match[str] | None:
    return _OBJECT.search(unit.source.code, max(0, offset - _LOOK_BACK), offset)


def _read_memory_type(unit: Rewrite, offset: int) -> None:
    named, end = _object(unit, offset), offset + len(_TYPE)
    if named is None or _SET.match(unit.source.code, end):
        return
    pointed = "*" if named["by"] == "->" else ""
    unit.edits.insert(named.start(), f"cass::memory_type({pointed}")
    unit.edits.replace(named.end("name"), end, ")")
    unit.snippets.add("memory_type")
    unit.converted(offset)


def _set_texture_field(unit: Rewrite, offset: int, field: str, call: str) -> None:
    named, given = _object(unit, offset), _SET.match(unit.source.code, offset + len(field))
    value = _STATEMENT.match(unit.source.code, given.end()) if given else None
    if named is None or given is None or value is None:
        return
    unit.edits.replace(named.start(), given.end(), f"{call}(")
    unit.edits.insert(value.end() - 1, ")")
    unit.snippets.add("seamless_cubemaps")
    unit.converted(offset)
