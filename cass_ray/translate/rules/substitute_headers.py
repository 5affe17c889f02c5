"""Headers of CUDA that HIP has no counterpart of, and whose types and functions snippets stand for.

NVTX's events with attributes: roctx has ranges and marks with a message, and nothing else. The
occupancy calculator: HIP asks the runtime alone.
"""

from __future__ import annotations

from cass_ray.translate.rules import tables
from cass_ray.translate.rules.rewrite import Rewrite


def name_substitute_headers(unit: Rewrite) -> None:
    """Give such types and functions the names of their snippets; C has none."""
    if unit.is_hip or unit.filename.endswith(".c"):
        return
    for snippet, substitute in tables.substitutes().items():
        if not substitute.triggers & unit.words.keys():
            continue
        for word, new in substitute.names.items():
            for offset in unit.words.get(word, ()):
                unit.rename(offset, word, new)
        unit.snippets.add(snippet)
