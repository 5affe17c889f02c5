"""Results of data sets that were built on another machine (benchmarks.elsewhere.rows)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.corpus.repositories.measure import (
    NO_UNITS,
    NOT_REACHED,
    WHY_KEPT,
    Measured,
    Programs,
    Results,
    Stopped,
    of_progress,
    of_report,
    seconds_of_progress,
)
from benchmarks.corpus.repositories.rule import EXECUTED, Repository, RepositoryList
from cass_ray.dataset.row import Reason, Stage, Verified
from cass_ray.pipeline.funnel import what_stopped

ID_CHARACTERS = 16


def lines_of(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """The lines of ``files`` by the name of their data set: of several the one with most rows."""
    found: dict[str, dict[str, Any]] = {}
    for path in files:
        for text in path.read_text("utf-8").splitlines():
            line = json.loads(text)
            known = found.get(line["name"])
            if known is None or len(line["rows"]) >= len(known["rows"]):
                found[line["name"]] = line
    return found


def measured_of(
    listed: str, row: Repository, line: dict[str, Any], date: str, built_by: str = ""
) -> Measured:
    """The counts of one data set, finished or as they were when its machine went back."""
    report, said = line["report"], line["said"]
    counts = of_report(report) if report else _of_rows(line["rows"], said)
    words = [each.strip() for each in said.splitlines() if each.strip()]
    failed = not report and words and not of_progress(words[-1])
    return Measured(
        list=listed,
        repository=row.repository,
        commit=row.commit,
        built_by=built_by,
        date=date,
        seconds=round(report["seconds"]) if report else seconds_of_progress(said),
        finished=bool(report),
        error=words[-1] if failed else "",
        **counts,
    )


def take(
    listed: RepositoryList,
    results: Results,
    lines: dict[str, dict[str, Any]],
    date: str,
    built_by: str = "",
) -> list[str]:
    """Put ``lines`` in the places of older results; what was taken and what was not, in words.

    ``built_by``: the commit of this tree that built them. A build that was ended does not take the
    place of one that was not, nor of one that came as far.
    """
    said = []
    older = {each.repository: each for each in results.measured}
    for name, row in listed.by_list():
        folder = row.repository.replace("/", "+")
        parts = [measured_of(name, row, line, date, built_by) for line in _parts(lines, row)]
        if not parts:
            continue
        new, old = _whole(parts, row.parts), older.get(row.repository)
        if (run := lines.get(f"{folder}+{EXECUTED}")) is not None:
            new = new.model_copy(update={"programs": programs_of(run["rows"])})
        kept = old is not None and not new.finished and (old.finished or old.reached > new.reached)
        if not kept:
            results.replace(new)
        said.append(
            f"{'older kept' if kept else 'taken'}: {new.repository} {new.pairs} of "
            f"{new.with_device_code}, {new.reached} of {new.rows} rows reached"
        )
    return said


def _parts(lines: dict[str, dict[str, Any]], row: Repository) -> list[dict[str, Any]]:
    """The lines of ``row``: one, or those of the parts OWNER+NAME+1 … that it was built in."""
    folder = row.repository.replace("/", "+")
    numbered = [f"{folder}+{number + 1}" for number in range(row.parts)]
    names = numbered if row.parts > 1 else [folder]
    return [lines[name] for name in names if name in lines]


def _whole(parts: list[Measured], number: int) -> Measured:
    """The sum of ``parts``, of which there should be ``number``."""
    if number == 1:
        return parts[0]
    reasons: Counter[str] = Counter()
    for stopped in (each for part in parts for each in part.stopped):
        reasons[stopped.what] += stopped.rows
    counts = ("rows", "own_command", "no_device_code", "duplicates", "pairs", "seconds")
    return parts[0].model_copy(
        update={
            **{name: sum(getattr(each, name) for each in parts) for name in counts},
            "finished": len(parts) == number and all(each.finished for each in parts),
            "error": next((each.error for each in parts if each.error), ""),
            "stopped": tuple(
                Stopped(what=what, rows=n) for what, n in reasons.most_common(WHY_KEPT)
            ),
        }
    )


def programs_of(rows: Iterable[dict[str, Any]]) -> Programs:
    """Count, by outcome, the pairs with a ``main`` in a data set whose pairs were run."""
    counts: Counter[str] = Counter()
    for row in rows:
        if not row["main"] or (row["reason"] and row["stage"] != Stage.EXECUTE):
            continue
        if row["reason"] in (Reason.OUTPUT_DIFFERS, Reason.RUN_FAILED):
            counts["differ"] += 1
        elif row["reason"]:
            counts["not_run"] += 1
        elif row["verified"] == Verified.EXECUTED:
            counts["agreed"] += 1
        else:
            counts["ended" if row["executed"] else "not_run"] += 1
    return Programs.model_validate(counts)


def pairs_of(
    lines: dict[str, dict[str, Any]], listed: Iterable[Repository]
) -> dict[str, list[str]]:
    """The first characters of the ids (digests) of the pairs of the repositories ``listed``."""
    found = {}
    for each in listed:
        rows = [row for line in _parts(lines, each) for row in line["rows"]]
        ids = {row["id"][:ID_CHARACTERS] for row in rows if not row["reason"]}
        if ids:
            found[each.repository] = sorted(ids)
    return found


def _of_rows(rows: list[dict[str, Any]], said: str) -> dict[str, Any]:
    """The counts of a build that was ended: its last progress, and what stopped its rows."""
    counts = of_progress(said)
    if not counts.get("rows"):
        return {}
    reasons = Counter(
        what_stopped(row)
        for row in rows
        if row["reason"] and row["reason"] not in NO_UNITS and "duplicate" not in row["reason"]
    )
    left = [each for each in counts["stopped"] if each["what"] == NOT_REACHED]
    stopped = [{"what": what, "rows": n} for what, n in reasons.most_common(WHY_KEPT)]
    return {**counts, "stopped": [*left, *stopped]}
