"""One row as numbers: what the report needs of every row, and nothing long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from cass_ray.analysis.mnemonics import mnemonics
from cass_ray.analysis.row_texts import RowText, TextLevel, texts
from cass_ray.analysis.text_counts import count
from cass_ray.assembly.opcodes import Category, category
from cass_ray.execute.evidence.counters import KernelCoverage

_LENGTHS = ("characters", "lines", "tokens", "instructions")
CLASSES = tuple(each.value for each in Category)
"""Names of the columns that count instructions by class."""
COUNTERS = ("instructions", "barriers", "atomics", "cross_lane", "lds")
"""Dynamic counts of :class:`KernelCounters` that are summed over a row's kernels."""

_TEXT = pa.struct(
    [
        *((name, pa.string()) for name in ("level", "vendor", "target")),
        *((name, pa.int64()) for name in (*_LENGTHS, *CLASSES)),
    ]
)

FEATURES = pa.schema(
    [
        ("id", pa.string()),
        ("filename", pa.string()),
        ("origin", pa.string()),
        ("repository", pa.string()),
        ("license", pa.string()),
        ("domain", pa.string()),
        ("verified", pa.string()),
        ("kernels", pa.int64()),
        ("texts", pa.list_(_TEXT)),
        ("launches", pa.list_(pa.string())),
        ("runs", pa.int64()),
        ("max_error", pa.float64()),
        ("coverage", pa.float64()),
        *((f"executed_{name}", pa.int64()) for name in COUNTERS),
    ]
)
"""One row each: lengths, instruction classes, and what the evidence of its execution says."""

Mnemonics = dict[tuple[str, str, str], Counter[str]]
"""(origin, instruction set, target) -> how often each mnemonic occurs."""


def features(row: Mapping[str, Any], totals: Mnemonics) -> dict[str, Any]:
    """``row`` in the form of ``FEATURES``; its mnemonics are added to ``totals``."""
    origin = row.get("origin") or "unknown"
    evidence = row.get("evidence") or {}
    return {
        "id": row["id"],
        "filename": row.get("filename") or "",
        "origin": origin,
        "repository": row.get("repository") or "",
        "license": row.get("license") or "",
        "domain": row.get("domain") or "",
        "verified": row.get("verified") or "none",
        "kernels": len(row.get("kernels") or ()),
        "texts": [_text(side, text, origin, totals) for side, text in texts(row)],
        "launches": list(evidence.get("launches") or ()),
        "runs": len(evidence.get("runs") or ()),
        "max_error": evidence.get("max_error"),
        "coverage": evidence.get("coverage"),
        **_counters(evidence.get("counters") or ""),
    }


def _text(side: RowText, text: str, origin: str, totals: Mnemonics) -> dict[str, Any]:
    lengths = count(text)
    counts: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    if side.instruction_set is not None:
        counts = mnemonics(side.instruction_set, text)
        target = side.target if side.level is TextLevel.DEVICE else side.vendor
        totals.setdefault((origin, side.instruction_set.value, target), Counter()).update(counts)
        for name, times in counts.items():
            classes[category(side.instruction_set, name).value] += times
    return {
        "level": side.level.value,
        "vendor": side.vendor,
        "target": side.target,
        "characters": len(text),
        "lines": lengths.lines,
        "tokens": lengths.tokens,
        "instructions": counts.total(),
        **{name: classes[name] for name in CLASSES},
    }


def _counters(text: str) -> dict[str, int | None]:
    """The evidence's counters over all kernels of a row; None where nothing was counted."""
    if not text:
        return {f"executed_{name}": None for name in COUNTERS}
    kernels = KernelCoverage.model_validate_json(text).kernels.values()
    return {f"executed_{name}": sum(getattr(each, name) for each in kernels) for name in COUNTERS}
