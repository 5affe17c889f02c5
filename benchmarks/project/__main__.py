"""Port the projects of a list as a user does, from the clone to the verdict.

python -m benchmarks.project [NAME ...] [--list projects.yaml] [--clones DIR | --given DIR]
    [--arch gfx90a] [--jobs 2] [--processors N] [--seconds N] [--where MACHINE] [--join JSON ...]
    [--results benchmarks/results/projects.json] [--page benchmarks/results/projects.md]
    [--reports DIR]

Each row of the list (moat.yaml is another) is cloned at its commit, with its submodules, and given
to ``cass project``.
Commit, date and verdict of each row and target replace the older ones in the results; the page's
table is written from them. With ``--clones`` clones are taken from git directories DIR/OWNER+NAME,
with ``--given`` from the archives of :mod:`benchmarks.project.given`, without git or a network.
``--jobs`` is what a row's commands call ``{jobs}``, ``--seconds`` the limit of its build and of its
tests in the place of the row's, ``--where`` the machine that the table names. ``--processors``
binds the run to so many that no other such run has. Without ``--page`` a table is written for the
repository's own results alone.
``--reports`` keeps the patch and the reports of each row, logs of its steps among them.
With ``--join`` nothing is run: outcomes that were written elsewhere, each run with ``--results`` of
its own, are taken into the results, the newer one of each row and target.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.folders import REPOSITORY
from benchmarks.project.cloning import CloneFailed, clone
from benchmarks.project.given import unpack
from benchmarks.project.processors import claim
from benchmarks.project.rows import ProjectRow, read_rows
from benchmarks.project.seen import Results, Seen, port_row
from benchmarks.project.table import write_table

_LIST = REPOSITORY / "benchmarks" / "project" / "projects.yaml"
_RESULTS = REPOSITORY / "benchmarks" / "results" / "projects.json"
_PAGE = REPOSITORY / "benchmarks" / "results" / "projects.md"


def main() -> int:
    """Exit codes: 0 each row passed, 1 one did not, 2 usage."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.project")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", type=Path, default=_LIST)
    sources = parser.add_mutually_exclusive_group()
    sources.add_argument("--clones", type=Path)
    sources.add_argument("--given", type=Path)
    sources.add_argument("--join", type=Path, nargs="+", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--processors", type=int)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--where", default="")
    parser.add_argument("--arch", action="append", default=[])
    parser.add_argument("--reports", type=Path)
    parser.add_argument("--results", type=Path, default=_RESULTS)
    parser.add_argument("--page", type=Path)
    chosen = parser.parse_args()
    page = chosen.page or (_PAGE if chosen.results == _RESULTS else None)
    if page is not None and not page.is_file():
        parser.error(f"--page {page}: the table is written into a page that is there")
    claims = claim(chosen.processors) if chosen.processors else []
    rows = _chosen(read_rows(chosen.list), chosen.names, parser)
    results = Results.read(chosen.results)
    for path in chosen.join:
        results.join(Results.read(path))
    verdicts = []
    for seen in _tried([] if chosen.join else rows, chosen):
        print(f"{seen.verdict:<8} {seen.target:<8} {seen.project} ({seen.seconds:.0f} s)")
        verdicts.append(seen.verdict)
        results.replace(seen)
        results.write(chosen.results)
    results.write(chosen.results)
    if page is not None:
        write_table(results, chosen.list.stem, page)
    for each in claims:
        each.close()
    return int(not chosen.join and verdicts.count("passed") != len(rows) * len(_targets(chosen)))


def _targets(chosen: argparse.Namespace) -> list[str]:
    return chosen.arch or ["gfx1100"]


def _tried(rows: list[ProjectRow], chosen: argparse.Namespace) -> Iterator[Seen]:
    for row in rows:
        with tempfile.TemporaryDirectory(prefix="cass-projects-") as place:
            yield from _port(row, Path(place), chosen)


def _port(row: ProjectRow, place: Path, chosen: argparse.Namespace) -> Iterator[Seen]:
    try:
        checkout = (
            unpack(row, chosen.given, place) if chosen.given else clone(row, place, chosen.clones)
        )
    except CloneFailed as error:
        print(f"not tried: {row.project}: {error}", file=sys.stderr)
        return
    row = row.model_copy(
        update={
            "seconds": chosen.seconds or row.seconds,
            "build": row.build.replace("{jobs}", str(chosen.jobs)),
            "test": row.test.replace("{jobs}", str(chosen.jobs)),
        }
    )
    for target in _targets(chosen):
        seen = port_row(chosen.list.stem, row, checkout, target, chosen.reports)
        yield seen.model_copy(update={"where": chosen.where})


def _chosen(
    rows: list[ProjectRow], names: list[str], parser: argparse.ArgumentParser
) -> list[ProjectRow]:
    known = {row.project for row in rows}
    if unknown := sorted(set(names) - known):
        parser.error(
            f"no project {', '.join(unknown)} in the list; it has {', '.join(sorted(known))}"
        )
    return [row for row in rows if not names or row.project in names]


if __name__ == "__main__":
    raise SystemExit(main())
