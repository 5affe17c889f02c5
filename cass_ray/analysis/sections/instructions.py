"""Which instructions the assembly holds: classes, the most frequent, and how many of each set."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import cass_ray.emulator
from cass_ray.analysis import charts
from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Cell, Column, Figure, FigureTable, Section, plain_columns
from cass_ray.analysis.row_features import CLASSES
from cass_ray.assembly.opcodes import InstructionSet, category

TEN_CLASSES = {
    "memory": ("memory_global", "memory_shared", "memory_constant", "memory_other"),
    "atomic": ("atomic",),
    "integer": ("integer",),
    "floating point": ("floating_point", "special_function"),
    "conversion": ("conversion",),
    "comparison": ("comparison",),
    "move": ("move",),
    "control flow": ("control_flow",),
    "synchronisation": ("synchronisation", "warp"),
    "other": ("other",),
}
"""Ten classes, as many as the paper's figure 8 has; its text does not list their names."""

_CLASS_OF = {each: name for name, categories in TEN_CLASSES.items() for each in categories}
_MOST = 20
_TABLE_ROW = re.compile(r"^INSTRUCTION\(\w+, 0x[0-9a-f]+, (\w+)", re.MULTILINE)


def instructions(data: Collected) -> Section:
    """Classes by side and origin, top mnemonics, and the share of each set that occurs."""
    if not data.pairs:
        return Section(key="instructions", title="Instructions", text="No pairs.")
    mix = ten_classes(data.texts)
    totals = by_target(data)
    coverage = _coverage(totals)
    numbers: dict[str, Cell] = {
        f"mnemonics, {target}": len(counts) for (_, target), counts in totals.items()
    }
    numbers |= {f"entropy, {target}": entropy(counts) for (_, target), counts in totals.items()}
    return Section(
        key="instructions",
        title="Instructions",
        numbers=numbers,
        tables=[_mix_table(mix), coverage, _top_table(totals)],
        figures=[_mix_figure(mix), *_top_figures(totals)],
    )


def ten_classes(texts: pd.DataFrame) -> pd.DataFrame:
    """Instructions by side (with origin) and class: columns text, class, instructions."""
    assembly = texts[texts["level"] != "source"]
    label = assembly["vendor"] + " " + assembly["level"]
    label += assembly["target"].map(lambda target: f" {target}" if target else "")
    sums = assembly.assign(text=label + ", " + assembly["origin"]).groupby("text")[list(CLASSES)]
    counted = sums.sum()
    folded = pd.DataFrame({name: counted[list(of)].sum(axis=1) for name, of in TEN_CLASSES.items()})
    return folded.reset_index().melt("text", var_name="class", value_name="instructions")


def by_target(data: Collected) -> dict[tuple[str, str], Counter[str]]:
    """(instruction set, target) -> mnemonics of all origins; ``target`` of hosts is the vendor."""
    result: dict[tuple[str, str], Counter[str]] = {}
    for (_, kind, target), counts in data.mnemonics.items():
        result.setdefault((kind, target), Counter()).update(counts)
    return result


def entropy(counts: Counter[str]) -> float:
    """Shannon entropy of the mnemonics in bits."""
    shares = pd.Series(counts, dtype=float) / counts.total()
    return float(-(shares * np.log2(shares)).sum())


def _mix_table(mix: pd.DataFrame) -> FigureTable:
    wide = mix.pivot(index="text", columns="class", values="instructions")[list(TEN_CLASSES)]
    totals = wide.sum(axis=1)
    return FigureTable(
        key="classes",
        title="Ten classes of instructions",
        caption="Share of static instructions. Special functions count as floating point, "
        "operations across lanes as synchronisation, as there are ten.",
        columns=[
            *plain_columns("text", "instructions"),
            *(Column(name=name, unit="%", digits=1) for name in TEN_CLASSES),
        ],
        rows=[
            [
                str(text),
                int(totals[text]),
                *(float(x) / max(1, totals[text]) for x in wide.loc[text]),
            ]
            for text in wide.index
        ],
        folded=True,
    )


def _mix_figure(mix: pd.DataFrame) -> Figure:
    return Figure(
        key="classes",
        title="Classes of instructions",
        caption="Share of static instructions in each text, by origin; "
        f"N = {int(mix['instructions'].sum()):,} instructions.",
        spec=charts.stacked(
            mix, "text", "instructions", "class", "share of instructions", list(TEN_CLASSES)
        ),
    )


def _top_figures(totals: dict[tuple[str, str], Counter[str]]) -> list[Figure]:
    figures = []
    for (kind, target), counts in totals.items():
        rows = [
            {
                "mnemonic": name,
                "share": number / counts.total(),
                "class": _CLASS_OF[category(InstructionSet(kind), name).value],
            }
            for name, number in counts.most_common(_MOST)
        ]
        figures.append(
            Figure(
                key=f"top-{kind}-{target}",
                title=f"Most frequent mnemonics, {_named(kind, target)}",
                caption=f"Share of static instructions; N = {counts.total():,}, "
                f"{len(counts):,} different mnemonics with modifiers.",
                spec=charts.colored_bars(
                    pd.DataFrame(rows), "mnemonic", "share", "class", list(TEN_CLASSES)
                ),
            )
        )
    return figures


def _top_table(totals: dict[tuple[str, str], Counter[str]]) -> FigureTable:
    rows: list[list[Cell]] = [
        [_named(kind, target), name, number, number / counts.total()]
        for (kind, target), counts in totals.items()
        for name, number in counts.most_common(100)
    ]
    return FigureTable(
        key="top",
        title="Most frequent mnemonics",
        caption="The first hundred of each text; N as in the figures.",
        columns=[
            *plain_columns("text", "mnemonic", "instructions"),
            Column(name="share", unit="%", digits=2),
        ],
        rows=rows,
        folded=True,
    )


def _named(kind: str, target: str) -> str:
    return f"{target} host" if kind == InstructionSet.X86 else target


def _coverage(totals: dict[tuple[str, str], Counter[str]]) -> FigureTable:
    rows: list[list[Cell]] = []
    for (kind, target), counts in totals.items():
        operations = known_operations(kind, target)
        met = {operation(kind, name) for name in counts}
        inside = len(met & operations) if operations else None
        rows.append(
            [
                _named(kind, target),
                len(counts),
                len(met),
                len(operations) or None,
                inside / len(operations) if inside is not None and operations else None,
            ]
        )
    return FigureTable(
        key="isa-coverage",
        title="How much of each instruction set occurs",
        caption="Operations are mnemonics without modifiers (SASS) or encoding (AMD). AMD's "
        "list: what LLVM's disassembler knows of the set, graphics included; SASS has no "
        "published list by architecture.",
        columns=[
            *plain_columns(
                "text", "mnemonics that occur", "operations that occur", "operations of the set"
            ),
            Column(name="share", unit="%", digits=1),
        ],
        rows=rows,
    )


def operation(kind: str, mnemonic: str) -> str:
    """The operation without its encoding: ``IMAD`` of ``IMAD.MOV.U32``, ``v_add_f32``."""
    if kind == InstructionSet.SASS:
        return mnemonic.split(".", 1)[0]
    if kind == InstructionSet.RDNA3:
        name = mnemonic.replace("v_dual_", "v_", 1)
        for ending in ("_e64_dpp", "_dpp", "_e32", "_e64", "_sdwa"):
            name = name.removesuffix(ending)
        return name
    return mnemonic


@cache
def known_operations(kind: str, target: str) -> frozenset[str]:
    """Every operation of an AMD target's instruction set, by the emulator's tables from LLVM."""
    if kind != InstructionSet.RDNA3:
        return frozenset()
    family = next((each for each in ("gfx11", "gfx12", "gfx9") if target.startswith(each)), "")
    folder = Path(cass_ray.emulator.__file__).parent / "engine" / "tables"
    names = set()
    for path in sorted(folder.glob("*.inc")):
        if family and (path.stem.startswith(target) or path.stem.startswith(family)):
            names |= _table_names(path)
    return frozenset(names)


def _table_names(path: Path) -> set[str]:
    return set(_TABLE_ROW.findall(path.read_text("utf-8")))
