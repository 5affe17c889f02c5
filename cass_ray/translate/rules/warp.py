"""Warp functions: CUDA's 32-lane warps on wavefronts of 32 or of 64 lanes.

The translated program keeps warps of 32 lanes. On RDNA a wavefront is a warp; on CDNA a wavefront
is two warps side by side, and every function here acts on the half that its lane is in. So
``__shfl_down_sync(m, v, d)`` becomes ``__shfl_down(v, d, 32)``, which every ROCm release has and
which needs no 64-bit mask, ``warpSize`` becomes 32, and what HIP has no plain function for comes
from snippets (``cass::ballot``) put at the top of the file.

Dropping the mask of a shuffle is sound: it names the lanes that must arrive together, all lanes of
an AMD wavefront arrive together, and a lane reads from lanes that CUDA requires to be named.
"""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules.rewrite import Rewrite

SHUFFLES = {
    "__shfl_sync": "__shfl",
    "__shfl_up_sync": "__shfl_up",
    "__shfl_down_sync": "__shfl_down",
    "__shfl_xor_sync": "__shfl_xor",
}
VOTES = {
    "__ballot_sync": ("cass::ballot", "ballot"),
    "__any_sync": ("cass::any", "ballot"),
    "__all_sync": ("cass::all", "ballot"),
    "__uni_sync": ("cass::uni", "ballot"),
    "__activemask": ("cass::activemask", "ballot"),
    "__syncwarp": ("cass::syncwarp", "syncwarp"),
    "__match_any_sync": ("cass::match_any", "match"),
    "__match_all_sync": ("cass::match_all", "match"),
    "__reduce_add_sync": ("cass::reduce_add", "reduce"),
    "__reduce_min_sync": ("cass::reduce_min", "reduce"),
    "__reduce_max_sync": ("cass::reduce_max", "reduce"),
    "__reduce_and_sync": ("cass::reduce_and", "reduce"),
    "__reduce_or_sync": ("cass::reduce_or", "reduce"),
    "__reduce_xor_sync": ("cass::reduce_xor", "reduce"),
}
LEGACY_VOTES = {"__ballot": "__ballot_sync", "__any": "__any_sync", "__all": "__all_sync"}
"""Without mask: gone since CUDA 9, and spelt like HIP's own of wavefront width."""

_WIDTH_ATTRIBUTES = ("cudaDevAttrWarpSize", "CU_DEVICE_ATTRIBUTE_WARP_SIZE")
_ATTRIBUTE_CALLS = ("cudaDeviceGetAttribute", "cuDeviceGetAttribute")

_PYTORCHS_WIDTHS = (
    "C10_WARP_SIZE",
    "C10_WARP_SIZE_LOWER_BOUND",
    "C10_WARP_SIZE_UPPER_BOUND",
)
_MACRO_NAMED = re.compile(r"(?:#[ \t]*(?:define|undef|ifdef|ifndef)[ \t]+|\bdefined[ \t(]+)\Z")
_PYTORCHS_FUNCTION = re.compile(r"(?:::\s*)?\bat\s*::\s*cuda\s*::\s*warp_size\s*\(\s*\)")
_BFLOAT16 = {"__nv_bfloat16", "__nv_bfloat162", "nv_bfloat16", "nv_bfloat162"}
_DECLARATION_LEAD = re.compile(
    r"\b(?:int|unsigned|long|short|size_t|auto|const|constexpr|uint|u?int(?:8|16|32|64)_t|define)\b"
    r"\s*[*&]?\s*\Z"
)
"""Not ``* warpSize`` alone, which is a product."""
_GLOBAL = re.compile(r"(?:(?<![\w>)\s])|(?<=\breturn))\s*::\s*\Z")
"""``::f`` behind no name, which is not a member of anything."""
_OBJECT = re.compile(r"(?:\b[A-Za-z_]\w*(?:\[[^\[\]]*\])?\s*(?:\.|->)\s*)+\Z")
_ASSIGNED = re.compile(r"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\s*(?:\+\+|--)")


def rewrite_warps(unit: Rewrite) -> None:
    """Rewrite shuffles, votes, warp barriers and the width of a warp."""
    if unit.is_hip:
        return
    # Once for the file: each look at its whole text takes time that grows with it.
    added = {"shuffle_bfloat16"} if _uses_bfloat16(unit) else set()
    for word, hip in SHUFFLES.items():
        for offset in unit.words.get(word, ()):
            if not unit.is_definition_of_macro(offset):
                unit.snippets.update(added)
                _rewrite_shuffle(unit, offset, word, hip, masked=True)
    for word in SHUFFLES.values():
        # A macro or function of the program's own is called with what it takes.
        for offset in () if unit.is_own(word) else unit.words.get(word, ()):
            if not unit.is_definition_of_macro(offset):
                unit.snippets.update(added)
                _rewrite_shuffle(unit, offset, word, word, masked=False)
    for word, (hip, snippet) in VOTES.items():
        for offset in unit.words.get(word, ()):
            is_other = unit.is_member(offset) and not _is_global(unit, offset)
            if not is_other and not unit.is_definition_of_macro(offset):
                unit.rename(offset, word, hip)
                unit.snippets.add(snippet)
    for word, masked in LEGACY_VOTES.items():
        for offset in unit.words.get(word, ()):
            if not unit.is_definition_of_macro(offset):
                _rewrite_legacy_vote(unit, offset, word, masked)
    _rewrite_width(unit)
    _rewrite_pytorchs_width(unit)
    _rewrite_attribute(unit)


def _is_global(unit: Rewrite, offset: int) -> bool:
    return _GLOBAL.search(unit.source.code, max(0, offset - 16), offset) is not None


def _uses_bfloat16(unit: Rewrite) -> bool:
    return bool(_BFLOAT16 & unit.words.keys()) or "cuda_bf16.h" in unit.source.text


def _rewrite_shuffle(unit: Rewrite, offset: int, word: str, hip: str, *, masked: bool) -> None:
    call = unit.call(offset, word)
    values = 3 if masked else 2
    if call is None or not values <= len(call[0]) <= values + 1:
        # Passed on by a macro: the arguments are not to be seen here.
        if masked:
            unit.rename(offset, word, "cass::" + hip.strip("_"))
            unit.snippets.add("shuffle")
        return
    arguments, _, closing = call
    if masked:
        unit.edits.replace(arguments[0][0], arguments[1][0], "")
    if len(arguments) == values and unit.wave64:
        # A program's own overload, for a type of its own, takes the width that its calls give.
        own = masked and unit.is_declaration(offset, word)
        unit.edits.insert(closing, ", int" if own else ", 32")
    if masked:
        unit.rename(offset, word, hip)


def _rewrite_legacy_vote(unit: Rewrite, offset: int, word: str, masked: str) -> None:
    call = unit.call(offset, word)
    if call is None or len(call[0]) != 1:
        return
    hip, snippet = VOTES[masked]
    unit.edits.insert(call[0][0][0], "0xffffffffu, ")
    unit.rename(offset, word, hip)
    unit.snippets.add(snippet)


def _rewrite_width(unit: Rewrite) -> None:
    """``warpSize`` is a variable that CUDA defines as 32, except where the file has its own.

    So is the member of ``cudaDeviceProp``: the host must count warps as the device does. HIP has 64
    there on CDNA.
    """
    offsets = unit.words.get("warpSize", ())
    if not offsets or not unit.wave64:
        return
    code = unit.source.code
    if any(_DECLARATION_LEAD.search(code, max(0, offset - 64), offset) for offset in offsets):
        return
    has_properties = "cudaDeviceProp" in unit.words
    for offset in offsets:
        # Before a quote the 32 would be half of a number with a digit separator.
        if unit.source.code.startswith("'", offset + len("warpSize")):
            continue
        if not unit.is_member(offset):
            unit.rename(offset, "warpSize", "32")
        elif has_properties:
            _rewrite_property(unit, offset)


def _rewrite_pytorchs_width(unit: Rewrite) -> None:
    """``C10_WARP_SIZE`` is 32 for CUDA, also for the host's compiler.

    PyTorch for ROCm has a wavefront's width there, in host code by a function that is no constant.
    """
    for word in _PYTORCHS_WIDTHS:
        for offset in unit.words.get(word, ()):
            if not _MACRO_NAMED.search(unit.source.code, max(0, offset - 32), offset):
                unit.rename(offset, word, "32")
    if "warp_size" in unit.words:
        for match in _PYTORCHS_FUNCTION.finditer(unit.source.code):
            unit.edits.replace(*match.span(), "32")
            unit.converted(match.start())


def _rewrite_attribute(unit: Rewrite) -> None:
    """The attribute that is a warp's width: where the file asks for attributes, it gets 32."""
    widths = [(word, unit.words.get(word, ())) for word in _WIDTH_ATTRIBUTES]
    if not unit.wave64 or not any(offsets for _, offsets in widths):
        return
    calls = [
        (offset, word)
        for word in _ATTRIBUTE_CALLS
        for offset in unit.words.get(word, ())
        if unit.call(offset, word) is not None and not unit.is_member(offset)
    ]
    for offset, word in calls:
        unit.rename(offset, word, "cass::device_attribute")
        unit.snippets.add("attribute")
    for word, offsets in () if calls else widths:
        for offset in offsets:
            message = f"{word} is 64 on CDNA, where the translated program has warps of 32 lanes"
            unit.report(offset, word, Severity.WARNING, message, "use 32")


def _rewrite_property(unit: Rewrite, offset: int) -> None:
    """``properties.warpSize`` where it is read."""
    code, end = unit.source.code, offset + len("warpSize")
    found = _OBJECT.search(code, max(0, offset - 120), offset)
    if found is None or _ASSIGNED.match(code, end):
        return
    before = code[max(0, found.start() - 8) : found.start()].rstrip()
    if not before.endswith((".", "->", "::", "&", ")", "]")):
        unit.edits.replace(found.start(), end, "32")
        unit.converted(offset)
        unit.report(
            offset,
            "warpSize",
            Severity.NOTE,
            "warpSize of the properties is 64 on CDNA: 32 is written, the width of warps here",
            "leave it where the program is to know the card's own width",
        )
