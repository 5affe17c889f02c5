"""One file that merges the scores of many runs: the best known result of each system and level."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import Field

from cass_ray.bench.reporting.report import ReportTable, percent, with_interval
from cass_ray.bench.results import read_samples
from cass_ray.bench.scoring.scores import Scores, by_run, score
from cass_ray.cache import digest
from cass_ray.config import StrictModel


class LeaderboardEntry(StrictModel):
    """One run. ``tasks_digest`` names the texts of its tasks: other texts, another contest."""

    tasks_digest: str
    scores: Scores
    source: str


class Leaderboard(StrictModel):
    """Entries, best first within each kind and set of tasks."""

    entries: list[LeaderboardEntry] = Field(default_factory=list)


def entries_of(path: Path) -> list[LeaderboardEntry]:
    """Every run in the results at ``path``. Raises what reading them does."""
    result = []
    for group in by_run(read_samples(path)).values():
        names = sorted({f"{sample.task} {sample.task_id}" for sample in group})
        result.append(
            LeaderboardEntry(tasks_digest=digest(names)[:16], scores=score(group), source=path.name)
        )
    return result


def merge(board: Leaderboard, entries: Iterable[LeaderboardEntry]) -> Leaderboard:
    """``board`` with ``entries``; a run of the same system, version, kind, tags and tasks replaces
    the one that is there."""
    merged = {_key(entry): entry for entry in [*board.entries, *entries]}
    ordered = sorted(
        merged.values(),
        key=lambda entry: (
            entry.scores.kind,
            entry.tasks_digest,
            -entry.scores.share("passed"),
            entry.scores.system,
        ),
    )
    return Leaderboard(entries=ordered)


def _key(entry: LeaderboardEntry) -> tuple[str, ...]:
    scores = entry.scores
    tags = tuple(f"{key}={value}" for key, value in sorted(scores.tags.items()))
    return (scores.system, scores.system_version, scores.kind, entry.tasks_digest, *tags)


def read_board(path: Path) -> Leaderboard:
    """The board in ``path``; an empty one without a file."""
    if not path.exists():
        return Leaderboard()
    return Leaderboard.model_validate(json.loads(path.read_text(encoding="utf-8")))


def write_board(path: Path, board: Leaderboard) -> None:
    """Write ``board``, whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(board.model_dump_json(indent=1) + "\n", encoding="utf-8")
    part.replace(path)


def board_table(entries: Sequence[LeaderboardEntry]) -> ReportTable:
    """One line an entry."""
    head = ["system", "level", "tags", "task set", "tasks", "compiles", "exact", "right"]
    rows = []
    for entry in entries:
        scores = entry.scores
        tags = " ".join(f"{key}={value}" for key, value in sorted(scores.tags.items()))
        shares = [percent(scores.share(name)) for name in ("compiled", "exact")]
        row = [scores.system, scores.kind, tags, entry.tasks_digest[:8], str(scores.tasks)]
        rows.append([*row, *shares, with_interval(scores.measures["passed"])])
    return ReportTable("Leaderboard", head, rows)
