"""How alike the two sides of a row are as texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cass_ray.analysis.row_texts import TextLevel, pair_of
from cass_ray.bench.scoring.similarity import chrf
from cass_ray.toolchain.errors import ToolMissing


def similarities(row: Mapping[str, Any], characters: int) -> list[dict[str, Any]]:
    """chrF and edit similarity at each level that both sides have, each 0 to 100.

    Of the first ``characters`` of both texts. Raises :class:`ToolMissing`.
    """
    result = []
    for level in TextLevel:
        if pair := pair_of(row, level):
            cuda, hip = (text[:characters] for text in pair)
            result.append(
                {
                    "id": row["id"],
                    "filename": row.get("filename") or "",
                    "origin": row.get("origin") or "unknown",
                    "level": level.value,
                    "chrf": chrf(hip, cuda),
                    "edit": edit_similarity(cuda, hip),
                }
            )
    return result


def edit_similarity(one: str, other: str) -> float:
    """100 × (1 − Levenshtein distance / length of the longer text), in characters.

    The measure that the assembly literature calls edit similarity. Raises :class:`ToolMissing`.
    """
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError as error:
        raise ToolMissing("rapidfuzz", "pip install 'cass-ray[analysis]'", str(error)) from None
    return 100 * Levenshtein.normalized_similarity(one, other)
