"""Textures and surfaces, which CDNA has no hardware for.

From gfx942 on there are no image instructions, HIP's headers refuse the functions and its runtime
makes no texture objects; gfx90a has units that filter neither floats nor layers. A program that is
for wavefronts of 64 lanes therefore calls ``cass::tex2D``, ``cass::malloc_array`` and so on. They
are software on those devices and HIP's own functions elsewhere: in kernels by the target that is
compiled for, on the host by the current device. So one source is right on both, RDNA keeps its
texture units, and a program for RDNA alone stays as it is. What the software has not is reported.
"""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules import headers, tables
from cass_ray.translate.rules.rewrite import Rewrite

_FETCH = re.compile(r"tex(?:1D|2D|3D|Cubemap)\w*\Z|surf(?:1D|2D|3D|Cubemap)\w*(?:read|write)\Z")
_MISSING = re.compile(
    r"cudaGraphicsSubResourceGetMappedArray\Z"
    r"|cuda(?:Malloc|Free|Get|ExternalMemoryGetMapped)\w*Mipmapped\w*\Z"
    r"|cuda(?:Bind|Unbind|Get)Texture(?:2D|ToArray|ToMipmappedArray|Reference|AlignmentOffset)?\Z"
    r"|cudaGetTextureObjectResourceViewDesc\Z"
    r"|cu(?:Array|MipmappedArray|TexObject|TexRef|SurfObject|SurfRef)[A-Z3]\w*\Z"
    r"|cuModuleGet(?:Tex|Surf)Ref\Z|cuGraphicsSubResourceGetMappedArray\Z"
)
"""Functions of textures, arrays and surfaces beside the fetches that the software does not have."""
_SRGB = re.compile(r"(?:\.|->)\s*(sRGB)\s*=(?!=)\s*(?!\s|0\b|false\b)")
_TEMPLATE = re.compile(r"\s*<")
_GATHER = "tex2Dgather"
"""HIP's own function of that name counts components from 1, so that it never is called."""
_COPIES_OF_MORE = frozenset({"cudaMemcpy3D", "cudaMemcpy3DAsync"})
_MEMBERS_OF_ARRAY_COPIES = frozenset({"srcArray", "dstArray"})
"""What makes such a copy one of arrays."""
_GLOBAL = re.compile(r"(?<![\w>])::\s*\Z")
_REFERENCE_ARGUMENTS = {"1Dfetch": 2, "1D": 2, "2D": 3, "3D": 4, "1DLayered": 3, "2DLayered": 4}
_REFERENCE_ARGUMENTS |= {f"{shape}Lod": n + 1 for shape, n in _REFERENCE_ARGUMENTS.items()}
"""Arguments of a fetch from a reference; one from an object names a type or has one more."""
_ADVICE = (
    "read the array through a const pointer; where it filters or clamps, do so in the kernel; or"
    " build this part for RDNA only"
)
_ADVICE_REFERENCE = "make a texture object of it (cudaCreateTextureObject), as CUDA 12 asks for too"


def rewrite_textures(unit: Rewrite) -> None:
    """Call the software where a program has to run without texture units; say what it lacks."""
    if unit.filename.endswith(".c") or headers.is_plain_host(unit):
        return  # a host's function may be called like a fetch
    if not unit.is_hip:
        for word, image in _counterparts(unit).items():
            for offset in () if unit.is_own(word) else unit.words.get(word, ()):
                _call_software(unit, offset, word, image)
    if unit.wave64 and not (unit.is_hip and 32 in unit.context.wavefronts):
        _report_missing(unit)


def _counterparts(unit: Rewrite) -> dict[str, tables.Replacement]:
    """The names that change in this file."""
    table = tables.images()
    if not unit.wave64:
        return {_GATHER: table[_GATHER]}
    if _has_references(unit):
        return {}  # HIP binds references to arrays of its own only.
    if not unit.words.keys() & _MEMBERS_OF_ARRAY_COPIES:
        return {word: image for word, image in table.items() if word not in _COPIES_OF_MORE}
    return table


def _has_references(unit: Rewrite) -> bool:
    """Whether the file declares texture references."""
    return not unit.is_own("texture") and any(
        _TEMPLATE.match(unit.source.code, offset + len("texture")) and not unit.is_member(offset)
        for offset in unit.words.get("texture", ())
    )


def _call_software(unit: Rewrite, offset: int, word: str, image: tables.Replacement) -> None:
    if _is_of_another(unit, offset) or _fetches_from_reference(unit, offset, word):
        return
    qualifier = _GLOBAL.search(unit.source.code, max(0, offset - 8), offset)
    if qualifier:
        unit.edits.replace(qualifier.start(), offset, "")
    unit.rename(offset, word, image.hip)
    unit.snippets.add(image.snippet)
    if word == _GATHER and unit.wave64:
        unit.snippets.update(("images", "texels"))


def _is_of_another(unit: Rewrite, offset: int) -> bool:
    """Whether the word is a member of something, or of a namespace that is not the global one."""
    is_global = _GLOBAL.search(unit.source.code, max(0, offset - 8), offset) is not None
    return unit.is_member(offset) and not is_global


def _fetches_from_reference(unit: Rewrite, offset: int, word: str) -> bool:
    arguments = _REFERENCE_ARGUMENTS.get(word.removeprefix("tex"))
    call = unit.call(offset, word)
    return arguments is not None and call is not None and len(call[0]) == arguments


def _report_missing(unit: Rewrite) -> None:
    """Report what needs texture units and has been left as it was."""
    code = unit.source.code
    for word, offsets in unit.words.items():
        is_fetch = _FETCH.match(word) is not None
        if unit.is_own(word) or not (is_fetch or _MISSING.match(word)):
            continue
        if word in tables.unsupported():
            continue  # HIP has none of it, on no device: a left-over
        for offset in offsets:
            is_used = unit.call(offset, word) is not None or (
                is_fetch and _TEMPLATE.match(code, offset + len(word)) is not None
            )
            if is_used and offset not in unit.handled and not _is_of_another(unit, offset):
                references = "Bind" in word or _fetches_from_reference(unit, offset, word)
                _report(unit, offset, word, _ADVICE_REFERENCE if references else _ADVICE)
    for match in _SRGB.finditer(code):
        _report(unit, match.start(1), "sRGB", _ADVICE)


def _report(unit: Rewrite, offset: int, word: str, advice: str) -> None:
    message = f"{word} needs texture units, which CDNA has not from gfx942 on"
    unit.report(offset, word, Severity.WARNING, message, advice)
