"""Programs to try on the page: shipped ones, whose output on an Nvidia GPU is stored."""

from __future__ import annotations

import functools

from cass_ray.api.schema import Example

_CHOSEN = (
    "general_compute/block_reduce.cu",
    "general_compute/blelloch_scan.cu",
    "general_compute/tiled_transpose.cu",
    "general_compute/stream_compaction.cu",
    "general_compute/segmented_reduction.cu",
    "simulation/nbody.cu",
)


@functools.cache
def examples() -> list[Example]:
    """The programs that the page offers, in its order; their outputs are stored."""
    from cass_ray.corpus.sources.shipped import SHIPPED_ROOT, load_manifest  # takes long to import

    entries = {entry.path: entry for entry in load_manifest()}
    shown = []
    for name in _CHOSEN:
        entry = entries[f"programs/{name}"]
        shown.append(
            Example(
                name=name.rpartition("/")[2],
                title=entry.description,
                source=(SHIPPED_ROOT / entry.path).read_text(),
                arguments=[list(arguments) for arguments in entry.arguments],
            )
        )
    return shown
