"""NVTX's events with attributes: roctx has ranges and marks with a message, and nothing else."""

from __future__ import annotations

from cass_ray.translate.rules.rewrite import Rewrite

_NAMES = {
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
}


def rename_events(unit: Rewrite) -> None:
    """Give such events the message alone, by a snippet; C has no counterpart."""
    if unit.is_hip or unit.filename.endswith(".c") or "nvtxEventAttributes_t" not in unit.words:
        return
    for word, new in _NAMES.items():
        for offset in unit.words.get(word, ()):
            unit.rename(offset, word, new)
    unit.snippets.add("nvtx")
