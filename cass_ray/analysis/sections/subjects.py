"""What programs are about, by two judges: the paper's keywords, and a classifier that learned."""

from __future__ import annotations

import pandas as pd

from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Column, FigureTable, Section, plain_columns
from cass_ray.analysis.learned_domains import learn


def subjects(data: Collected) -> Section:
    """Learned categories beside keyword domains, of the sampled programs."""
    if not data.sources:
        return Section(key="subjects", title="What the programs are about", text="No sample.")
    judge = learn()
    frame = pd.DataFrame(
        {
            "keyword": [each["domain"] or "unknown" for each in data.sources],
            "learned": judge.of([each["words"] for each in data.sources]),
        }
    )
    table = pd.crosstab(frame["learned"], frame["keyword"])
    table = table.loc[table.sum(axis=1).sort_values(ascending=False, kind="stable").index]
    return Section(
        key="subjects",
        title="What the programs are about",
        text="The classifier is a logistic regression on the words of identifiers and comments, "
        f"trained on the {judge.programs} programs of CASS-Bench, which their authors filed by "
        f"category. On benchmark programs that it did not see it is right in "
        f"{100 * judge.accuracy:.0f}% of the cases ({100 * judge.by_chance:.0f}% by always naming "
        "the most frequent category): a second opinion, no more.",
        numbers={
            "accuracy of the learned categories": judge.accuracy,
            "categories": int(frame["learned"].nunique()),
        },
        tables=[
            FigureTable(
                key="subjects",
                title="Learned category (rows) and keyword domain (columns)",
                caption=f"Programs; N = {len(frame):,} of {data.pairs:,}, chosen by a hash of "
                "their ids.",
                columns=[
                    *plain_columns("learned category", "programs"),
                    *(Column(name=str(name).replace("_", " ")) for name in table.columns),
                ],
                rows=[
                    [str(name), int(table.loc[name].sum()), *map(int, table.loc[name])]
                    for name in table.index
                ],
            )
        ],
    )
