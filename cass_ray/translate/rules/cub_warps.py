"""CUB's collectives of a warp, which has 32 lanes in CUDA: hipCUB's have those of a wavefront.

Where a program gives no number of lanes, hipCUB takes the device's, 64 on CDNA. The classes become
those of a snippet, whose default is 32; the functions on lanes become the snippet's as well.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

CLASSES = (
    *("WarpReduce", "WarpScan", "WarpExchange", "WarpLoad", "WarpStore", "WarpMergeSort"),
    *("BlockExchange", "BlockLoad", "BlockStore"),
)
"""Those of a block go by warps in some of their ways."""
FUNCTIONS = (
    *("ShuffleUp", "ShuffleDown", "ShuffleIndex", "LaneId", "WarpId", "WarpMask"),
    *("LaneMaskLt", "LaneMaskLe", "LaneMaskGt", "LaneMaskGe"),
    *("LoadDirectWarpStriped", "StoreDirectWarpStriped"),
    *("WARP_SYNC", "WARP_ANY", "WARP_ALL", "WARP_BALLOT"),
)
MACROS = {
    "CUB_PTX_WARP_THREADS": "32",
    "CUB_PTX_LOG_WARP_THREADS": "5",
    "CUB_WARP_THREADS": "32",
    "CUB_LOG_WARP_THREADS": "5",
}
"""What CUB calls the width of a warp; two of them are macros of an architecture."""

_QUALIFIER = re.compile(r"(?P<chain>(?:::)?(?:[A-Za-z_]\w*::)+)\s*\Z")
_ALIAS = re.compile(r"\bnamespace\s+(\w+)\s*=\s*(?:::\s*)?(?:\w+\s*::\s*)*cub\s*;")
_USING = re.compile(r"\busing\s+namespace\s+(?:::\s*)?(?:\w+\s*::\s*)*cub\s*;")
_LOOK_BACK = 100


def rename_warps(unit: Rewrite) -> None:
    """Give the warp's classes and functions of CUB the names of the snippet ``cub_warps``."""
    if unit.is_hip or "cub" not in unit.words:
        return
    code = unit.source.code
    namespaces = {"cub", *_ALIAS.findall(code)}
    unqualified = _USING.search(code) is not None
    for word in (*CLASSES, *FUNCTIONS):
        for offset in unit.words.get(word, ()):
            _rename(unit, offset, word, namespaces, unqualified)
    for macro, value in MACROS.items():
        if unit.is_own(macro):
            continue  # a copy of CUB's own headers
        for offset in unit.words.get(macro, ()):
            call = unit.call(offset, macro)
            end = call[2] + 1 if call else offset + len(macro)
            unit.edits.replace(offset, end, value)
            unit.converted(offset)


def _rename(unit: Rewrite, offset: int, word: str, namespaces: set[str], unqualified: bool) -> None:
    code = unit.source.code
    found = _QUALIFIER.search(code, max(0, offset - _LOOK_BACK), offset)
    if found is None:
        if not unqualified or unit.is_member(offset) or unit.is_own(word):
            return
        start = offset
    else:
        names = [each.strip() for each in found["chain"].split("::") if each.strip()]
        if names[-1] not in namespaces or names[-2:-1] == ["cuda"]:
            return  # at::cuda::cub is PyTorch's.
        start = found.start("chain")
        unit.handled.update(place for place in unit.words["cub"] if start <= place < offset)
    unit.edits.replace(start, offset + len(word), f"cass::{word}")
    unit.converted(offset)
    unit.snippets.add("cub_warps")
