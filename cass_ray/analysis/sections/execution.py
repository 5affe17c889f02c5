"""What the evidence of execution says: levels, launch configurations, dynamic instruction mix."""

from __future__ import annotations

import pandas as pd

from cass_ray.analysis import charts
from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Cell, Column, Figure, FigureTable, Section, plain_columns
from cass_ray.emulator.launches import Launch, parse_launch

_MOST = 15
_DYNAMIC = {
    "lds": "shared memory (LDS)",
    "atomics": "atomic",
    "cross_lane": "across lanes",
    "barriers": "barrier",
}


def execution(data: Collected) -> Section:
    """Verification levels, launches, and how often executed waves touch memory and other lanes."""
    rows = data.rows
    levels = rows.groupby(["verified", "origin"], sort=True).size().reset_index(name="pairs")
    tables = [
        FigureTable(
            key="verified",
            title="How far equivalence was checked",
            caption=f"none, compiled (both sides), executed (both ran and agree); "
            f"N = {data.pairs:,} pairs.",
            columns=plain_columns("level", "origin", "pairs"),
            rows=[
                [str(level), str(origin), int(pairs)]
                for level, origin, pairs in levels.itertuples(index=False)
            ],
        )
    ]
    launches = launches_of(data)
    figures: list[Figure] = []
    if launches:
        tables.append(_launch_table(launches))
        figures.append(_block_figure(launches))
    counted = rows[rows["executed_instructions"].fillna(0) > 0]
    if len(counted):
        tables.append(_dynamic_table(counted))
    executed = int((rows["verified"] == "executed").sum())
    numbers: dict[str, Cell] = {
        "executed": executed,
        "share executed": executed / data.pairs if data.pairs else None,
        "median coverage of kernels' code": (
            float(counted["coverage"].median()) if len(counted) else None
        ),
    }
    return Section(
        key="execution", title="Execution", numbers=numbers, tables=tables, figures=figures
    )


def launches_of(data: Collected) -> list[tuple[str, Launch]]:
    """(id of the row, launch) of every launch that evidence names."""
    ids, column = data.rows["id"], data.features["launches"].to_pylist()
    return [
        (identifier, parse_launch(text))
        for identifier, texts in zip(ids, column, strict=True)
        for text in texts or ()
    ]


def _launch_table(launches: list[tuple[str, Launch]]) -> FigureTable:
    frame = pd.DataFrame(
        {
            "row": identifier,
            "block": "×".join(map(str, launch.block)),
            "threads": _threads(launch.block),
            "launches": launch.count,
        }
        for identifier, launch in launches
    )
    used = frame.groupby("block", sort=True).agg(
        threads=("threads", "first"), programs=("row", "nunique"), launches=("launches", "sum")
    )
    used = used.sort_values("programs", ascending=False, kind="stable").reset_index()
    of_rows = frame["row"].nunique()
    return FigureTable(
        key="blocks",
        title="Launch configurations",
        caption=f"The {_MOST} block sizes that most programs use; N = {of_rows:,} executed "
        f"programs, {len(frame):,} configurations.",
        columns=plain_columns("block", "threads", "programs", "launches"),
        rows=[
            [str(block), int(threads), int(programs), int(launches)]
            for block, threads, programs, launches in used[:_MOST].itertuples(index=False)
        ],
    )


def _threads(sizes: tuple[int, int, int]) -> int:
    return sizes[0] * sizes[1] * sizes[2]


def _block_figure(launches: list[tuple[str, Launch]]) -> Figure:
    seen: dict[tuple[int, str], set[str]] = {}
    for identifier, launch in launches:
        whole = "whole waves of 64" if _threads(launch.block) % 64 == 0 else "partial waves of 64"
        seen.setdefault((_threads(launch.block), whole), set()).add(identifier)
    data = pd.DataFrame(
        {"threads": str(threads), "programs": len(ids), "waves": whole}
        for (threads, whole), ids in sorted(seen.items())
    )
    programs = len({each for ids in seen.values() for each in ids})
    order = [str(threads) for threads in sorted({threads for threads, _ in seen})]
    return Figure(
        key="blocks",
        title="Threads of a block",
        caption="Programs that launch a kernel with so many threads a block, by whether these fill "
        f"waves of 64 lanes; N = {programs:,} programs.",
        spec=charts.columns(data, "threads", "programs", "waves", order),
    )


def _dynamic_table(counted: pd.DataFrame) -> FigureTable:
    rows: list[list[Cell]] = []
    for origin, group in counted.groupby("origin", sort=True):
        total = float(group["executed_instructions"].sum())
        values: list[str | int | float | None] = [str(origin), len(group), int(total)]
        for name in _DYNAMIC:
            used = int((group[f"executed_{name}"] > 0).sum())
            values += [float(group[f"executed_{name}"].sum()) / total, used / len(group)]
        rows.append(values)
    columns = plain_columns("origin", "programs", "wave instructions")
    for title in _DYNAMIC.values():
        columns += [
            Column(name=f"{title}, of instructions", unit="%", digits=2),
            Column(name=f"{title}, of programs", unit="%", digits=1),
        ]
    return FigureTable(
        key="dynamic",
        title="What executed waves did",
        caption="Instructions that waves executed on the AMD side, counted by the device process; "
        f"N = {len(counted):,} programs.",
        columns=columns,
        rows=rows,
    )
