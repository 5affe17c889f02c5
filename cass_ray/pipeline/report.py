"""What a build did: counts that must add up, yields, and a table people can read."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from cass_ray.dataset.card import CardFacts
from cass_ray.dataset.row import DUPLICATE_REASONS, Reason, is_rejected
from cass_ray.pipeline.funnel import Funnel
from cass_ray.pipeline.settings import BuildSettings


class ConservationError(AssertionError):
    """Rows went missing or multiplied: a bug, never the input's fault."""


class Tally:
    """Counts over finished rows; ``rows in = pairs + rejects + duplicates``."""

    def __init__(self) -> None:
        self.rows = 0
        self.pairs = 0
        self.rejects: Counter[tuple[str, str]] = Counter()
        self.duplicates: Counter[str] = Counter()
        self.origins: Counter[str] = Counter()
        self.domains: Counter[str] = Counter()
        self.verified: Counter[str] = Counter()
        self.lifted = 0
        self.kernels = 0
        self.funnel = Funnel()

    def add(self, row: dict[str, Any]) -> None:
        self.rows += 1
        self.funnel.add(row)
        self.origins[row.get("origin") or "unknown"] += 1
        if not is_rejected(row):
            self.pairs += 1
            self.kernels += len(row["kernels"])
            self.domains[row.get("domain") or "unknown"] += 1
            self.verified[row["verified"]] += 1
            self.lifted += bool(row.get("lifted_side"))
        elif Reason(row["reason"]) in DUPLICATE_REASONS:
            self.duplicates[row["reason"]] += 1
        else:
            self.rejects[row["stage"], row["reason"]] += 1

    def merge(self, other: Tally) -> None:
        """Add the counts of other rows."""
        self.rows += other.rows
        self.pairs += other.pairs
        self.kernels += other.kernels
        self.lifted += other.lifted
        self.rejects.update(other.rejects)
        self.duplicates.update(other.duplicates)
        self.origins.update(other.origins)
        self.domains.update(other.domains)
        self.verified.update(other.verified)
        self.funnel.merge(other.funnel)

    def check_conservation(self, rows_in: int) -> None:
        """Raise ``ConservationError`` unless every input row ended in exactly one place."""
        out = self.pairs + self.rejects.total() + self.duplicates.total()
        if out != rows_in or out != self.rows:
            raise ConservationError(
                f"{rows_in} rows in, but {self.pairs} pairs + {self.rejects.total()} rejects + "
                f"{self.duplicates.total()} duplicates = {out} out"
            )

    def as_dict(self) -> dict[str, Any]:
        """The counts for ``report.json``."""
        return {
            "rows": self.rows,
            "pairs": self.pairs,
            "kernels": self.kernels,
            "lifted": self.lifted,
            "duplicates": dict(sorted(self.duplicates.items())),
            "rejects": [
                {"stage": stage, "reason": reason, "rows": count}
                for (stage, reason), count in sorted(self.rejects.items())
            ],
            "origins": dict(sorted(self.origins.items())),
            "domains": dict(sorted(self.domains.items())),
            "verified": dict(sorted(self.verified.items())),
            **({"funnel": self.funnel.as_dict()} if self.funnel.steps else {}),
        }


def card_facts(settings: BuildSettings, tally: Tally) -> CardFacts:
    """What the data set's card says about a build."""
    return CardFacts(
        sources=settings.sources,
        nvidia_architectures=settings.nvidia_architectures,
        amd_architectures=settings.amd_architectures,
        optimization=settings.optimization,
        translator=settings.translator,
        rows=tally.rows,
        pairs=tally.pairs,
        kernels=tally.kernels,
        lifted=tally.lifted,
        duplicates=tally.duplicates.total(),
        rejects=tally.rejects,
    )


def report_json(report: dict[str, Any]) -> bytes:
    """``report`` as it is written."""
    return (json.dumps(report, indent=2, sort_keys=True, default=str) + "\n").encode()


def print_summary(console: Console, tally: Tally, seconds: float, out: Path | str) -> None:
    """The table at the end of a build."""
    table = Table(title="Data set", title_justify="left", show_header=False, min_width=60)
    table.add_column(justify="right", style="bold")
    table.add_column()
    table.add_row(str(tally.rows), "rows in")
    by_level = ", ".join(f"{count} {level}" for level, count in sorted(tally.verified.items()))
    table.add_row(
        str(tally.pairs), f"pairs, {tally.kernels} kernels ({by_level or 'none'})", style="green"
    )
    if tally.lifted:
        table.add_row(str(tally.lifted), "of them without a HIP source: their AMD side is lifted")
    for reason, count in sorted(tally.duplicates.items()):
        table.add_row(str(count), reason.replace("_", " "), style="dim")
    for (stage, reason), count in sorted(tally.rejects.items(), key=lambda item: -item[1]):
        table.add_row(
            str(count), f"rejected at {stage}: {reason.replace('_', ' ')}", style="yellow"
        )
    console.print(table)
    if tally.domains:
        domains = Table(
            title="Pairs by domain", title_justify="left", show_header=False, min_width=60
        )
        domains.add_column(justify="right")
        domains.add_column()
        for domain, count in tally.domains.most_common():
            domains.add_row(str(count), domain.replace("_", " "))
        console.print(domains)
    tally.funnel.print(console)
    console.print(f"{tally.rows} rows in {seconds:.1f} s -> [bold]{out}[/bold]", soft_wrap=True)
    console.print(f"Look at a pair: cass inspect {out} --index 0", soft_wrap=True, highlight=False)
