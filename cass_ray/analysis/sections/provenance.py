"""Programs that people wrote beside programs that were generated."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from cass_ray.analysis import charts
from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Cell, Column, Figure, FigureTable, Section, plain_columns
from cass_ray.analysis.row_features import CLASSES
from cass_ray.dataset.row import Origin

_GENERATED = {Origin.SYNTHETIC.value}
_MEASURES = {
    ("CUDA", "source"): ("lines", "lines of source"),
    ("CUDA", "device"): ("instructions", "Nvidia instructions"),
    ("HIP", "device"): ("instructions", "AMD instructions"),
}


def provenance(data: Collected) -> Section:
    """Lengths, kernels, vocabulary and instruction mix of both kinds."""
    kind = np.where(data.rows["origin"].isin(_GENERATED), "generated", "written")
    present = sorted(set(kind), reverse=True)
    if len(present) < 2:
        text = f"All pairs are {present[0]}." if present else "No pairs."
        return Section(key="provenance", title="Written and generated programs", text=text)
    texts = data.texts.drop_duplicates(["row", "vendor", "level"])
    texts = texts.assign(kind=kind[texts["row"]])
    mixes = {name: _mix(texts[texts["kind"] == name]) for name in present}
    divergence = jensen_shannon(mixes["written"], mixes["generated"])
    drawn = pd.DataFrame(
        {"kind": name, "class": each, "share": float(share)}
        for name, mix in mixes.items()
        for each, share in zip(CLASSES, mix, strict=True)
    )
    return Section(
        key="provenance",
        title="Written and generated programs",
        numbers={"divergence of Nvidia's instruction classes, bits": divergence},
        tables=[_table(data, texts, pd.Series(kind, dtype=str), present)],
        figures=[
            Figure(
                key="provenance",
                title="Instruction classes of Nvidia's device code",
                caption="Share of static instructions, first architecture; Jensen-Shannon "
                f"divergence {divergence:.3f} bits; N = "
                + ", ".join(f"{int((kind == name).sum()):,} {name}" for name in present)
                + " programs.",
                spec=charts.stacked(
                    drawn.rename(columns={"share": "instructions"}),
                    "kind",
                    "instructions",
                    "class",
                    "share of instructions",
                    list(CLASSES),
                ),
            )
        ],
    )


def _mix(texts: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    device = texts[(texts["vendor"] == "CUDA") & (texts["level"] == "device")]
    sums = device[list(CLASSES)].sum().to_numpy(float)
    return np.asarray(sums / max(1.0, sums.sum()))


def jensen_shannon(
    one: np.ndarray[tuple[int], np.dtype[np.float64]],
    other: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> float:
    """Divergence of two distributions in bits: 0 for equal ones, 1 for disjoint ones."""
    middle = (one + other) / 2

    def to_middle(each: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        kept = each > 0
        return float((each[kept] * np.log2(each[kept] / middle[kept])).sum())

    return (to_middle(one) + to_middle(other)) / 2


def _table(
    data: Collected, texts: pd.DataFrame, kind: pd.Series[str], present: list[str]
) -> FigureTable:
    rows: list[list[Cell]] = []
    for name in present:
        values: list[str | int | float | None] = [name, int((kind == name).sum())]
        values.append(float(data.rows.loc[kind == name, "kernels"].mean()))
        for (vendor, level), (unit, _) in _MEASURES.items():
            chosen = texts[
                (texts["kind"] == name) & (texts["vendor"] == vendor) & (texts["level"] == level)
            ]
            values.append(float(chosen[unit].median()) if len(chosen) else None)
        words: Counter[str] = Counter()
        for (origin, instruction_set, _), counts in data.mnemonics.items():
            if instruction_set == "sass" and (origin in _GENERATED) == (name == "generated"):
                words.update(counts)
        rows.append([*values, len(words)])
    return FigureTable(
        key="provenance",
        title="Written and generated",
        caption="Medians of a program; vocabulary: different SASS mnemonics with modifiers.",
        columns=[
            *plain_columns("programs", "N"),
            Column(name="kernels, mean", digits=2),
            *(Column(name=f"{title}, median", digits=0) for _, title in _MEASURES.values()),
            Column(name="SASS vocabulary"),
        ],
        rows=rows,
    )
