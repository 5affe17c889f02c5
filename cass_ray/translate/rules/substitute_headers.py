"""Headers of CUDA that HIP has no counterpart of, and whose types and functions snippets stand for.

NVTX's events with attributes: roctx has ranges and marks with a message, and nothing else. The
occupancy calculator: HIP asks the runtime alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.translate.rules.rewrite import Rewrite


@dataclass(frozen=True)
class _StandIn:
    """``names`` become those of ``snippet`` in files that have one of ``triggers``."""

    snippet: str
    triggers: frozenset[str]
    names: dict[str, str]


_NVTX = _StandIn(
    "nvtx",
    frozenset({"nvtxEventAttributes_t"}),
    {
        "nvtxEventAttributes_t": "cass::nvtx_attributes",
        "nvtxEventAttributes_v2": "cass::nvtx_attributes",
        "nvtxRangePushEx": "cass::nvtx_range_push",
        "nvtxRangeStartEx": "cass::nvtx_range_start",
        "nvtxMarkEx": "cass::nvtx_mark",
        "NVTX_EVENT_ATTRIB_STRUCT_SIZE": "sizeof(cass::nvtx_attributes)",
        # Numbers of nvToolsExt.h.
        "NVTX_VERSION": "3",
        "NVTX_COLOR_UNKNOWN": "0",
        "NVTX_COLOR_ARGB": "1",
        "NVTX_MESSAGE_UNKNOWN": "0",
        "NVTX_MESSAGE_TYPE_ASCII": "1",
        "NVTX_MESSAGE_TYPE_UNICODE": "2",
        "NVTX_PAYLOAD_UNKNOWN": "0",
        "NVTX_PAYLOAD_TYPE_UNSIGNED_INT64": "1",
        "NVTX_PAYLOAD_TYPE_INT64": "2",
        "NVTX_PAYLOAD_TYPE_DOUBLE": "3",
        "NVTX_PAYLOAD_TYPE_UNSIGNED_INT32": "4",
        "NVTX_PAYLOAD_TYPE_INT32": "5",
        "NVTX_PAYLOAD_TYPE_FLOAT": "6",
    },
)
_OCCUPANCY = _StandIn(
    "occupancy",
    frozenset({"cudaOccDeviceProp", "__occRoundUp", "__occDivideRoundUp"}),
    {
        "cudaOccDeviceProp": "cass::occupancy_device",
        "cudaOccFuncAttributes": "cass::occupancy_function",
        "cudaOccDeviceState": "cass::occupancy_state",
        "cudaOccResult": "cass::occupancy_result",
        "cudaOccCacheConfig": "int",
        "cudaOccError": "int",
        "CUDA_OCC_SUCCESS": "0",
        "cudaOccMaxPotentialOccupancyBlockSize": "cass::occupancy_block_size",
        "cudaOccMaxActiveBlocksPerMultiprocessor": "cass::occupancy_blocks",
        "cudaOccSMemAllocationGranularity": "cass::occupancy_granularity",
        "__occRoundUp": "cass::occupancy_round_up",
        "__occDivideRoundUp": "cass::occupancy_divide_up",
    },
)


def name_substitute_headers(unit: Rewrite) -> None:
    """Give such types and functions the names of their snippets; C has none."""
    if unit.is_hip or unit.filename.endswith(".c"):
        return
    for each in (_NVTX, _OCCUPANCY):
        if not each.triggers & unit.words.keys():
            continue
        for word, new in each.names.items():
            for offset in unit.words.get(word, ()):
                unit.rename(offset, word, new)
        unit.snippets.add(each.snippet)
