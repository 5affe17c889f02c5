"""Duplicates that were left out, and how large the groups are that they belong to."""

from __future__ import annotations

from collections import Counter

from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Column, FigureTable, Section, plain_columns
from cass_ray.dataset.row import DUPLICATE_REASONS

_MOST = 20


def duplicates(data: Collected) -> Section:
    """Counts by reason; the largest groups by what they duplicate."""
    names = sorted(reason.value for reason in DUPLICATE_REASONS)
    left = data.rejects[data.rejects["reason"].isin(names)]
    counts = left.groupby(["reason", "origin"], sort=True).size().reset_index(name="rows")
    groups = Counter(left["duplicate_of"])
    sizes = Counter(groups.values())
    kept = dict(zip(data.rows["id"], data.rows["filename"], strict=True))
    largest = sorted(groups.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
    return Section(
        key="duplicates",
        title="Duplicates",
        numbers={"duplicates": len(left), "groups": len(groups)},
        tables=[
            FigureTable(
                key="duplicates",
                title="By reason and origin",
                caption=f"Rows left out as duplicates of a row that is kept; N = {len(left):,}.",
                columns=[Column(name=name) for name in ("reason", "origin", "rows")],
                rows=[
                    [str(reason), str(origin), int(rows)]
                    for reason, origin, rows in counts.itertuples(index=False)
                ],
            ),
            FigureTable(
                key="groups",
                title="Sizes of groups",
                caption="A group is a kept row with its duplicates; "
                f"N = {len(groups):,} groups of two or more.",
                columns=plain_columns("rows in the group", "groups"),
                rows=[[size + 1, number] for size, number in sorted(sizes.items())],
            ),
            FigureTable(
                key="largest-groups",
                title="Largest groups",
                caption=f"The {_MOST} rows with the most duplicates.",
                columns=plain_columns("id", "file", "duplicates"),
                rows=[[str(one), kept.get(one, ""), number] for one, number in largest],
                folded=True,
            ),
        ],
    )
