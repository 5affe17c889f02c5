"""Port the projects of a list as a user does, from the clone to the verdict.

python -m benchmarks.project [NAME ...] [--list projects.yaml] [--clones DIR] [--arch gfx90a]
    [--results benchmarks/results/projects.json] [--page benchmarks/results/projects.md]
    [--reports DIR]

Each row of the list (moat.yaml is another) is cloned at its commit, with its submodules, and given
to ``cass project``.
Commit, date and verdict of each row and target replace the older ones in the results; the page's
table is written from them. With ``--clones`` clones are taken from git directories DIR/OWNER+NAME;
``--reports`` keeps the patch and the reports of each row, logs of its steps among them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.folders import REPOSITORY
from benchmarks.project.cloning import CloneFailed, clone
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
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--arch", action="append", default=[])
    parser.add_argument("--reports", type=Path)
    parser.add_argument("--results", type=Path, default=_RESULTS)
    parser.add_argument("--page", type=Path, default=_PAGE)
    chosen = parser.parse_args()
    if not chosen.page.is_file():
        parser.error(f"--page {chosen.page}: the table is written into a page that is there")
    rows = _chosen(read_rows(chosen.list), chosen.names, parser)
    results = Results.read(chosen.results)
    targets = chosen.arch or ["gfx1100"]
    verdicts = []
    for row in rows:
        with tempfile.TemporaryDirectory(prefix="cass-projects-") as place:
            for seen in _port(row, Path(place), chosen, targets):
                print(f"{seen.verdict:<8} {seen.target:<8} {row.project} ({seen.seconds:.0f} s)")
                verdicts.append(seen.verdict)
                results.replace(seen)
                results.write(chosen.results)
                write_table(results, chosen.list.stem, chosen.page)
    return int(verdicts.count("passed") != len(rows) * len(targets))


def _port(
    row: ProjectRow, place: Path, chosen: argparse.Namespace, targets: list[str]
) -> Iterator[Seen]:
    try:
        checkout = clone(row, place, chosen.clones)
    except CloneFailed as error:
        print(f"not tried: {row.project}: {error}", file=sys.stderr)
        return
    for target in targets:
        yield port_row(chosen.list.stem, row, checkout, target, chosen.reports)


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
