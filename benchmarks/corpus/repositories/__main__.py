"""Apply the rule of benchmarks/corpus/repositories.md, and build what it takes.

python -m benchmarks.corpus.repositories choose|choose-second|…|choose-seventh [--clones DIR]
python -m benchmarks.corpus.repositories measure [NAME ...] [--clones DIR] [--seconds 1800]
    [--set slots=2] [--out DIR]
python -m benchmarks.corpus.repositories take ROWS.jsonl ... --clones DIR --built-by COMMIT
    [--date 2026-11-29]
python -m benchmarks.corpus.repositories page

``measure`` builds the repositories that are named, or those of the rule that were not tried yet, in
the list's order; the result of each replaces its older one in repositories.json of
benchmarks/results, and the page's tables and repositories.csv are written from it. With
``--clones`` clones are the git directories DIR/OWNER+NAME/repo; with ``--out`` data sets are kept
there, and unfinished ones resumed. ``take`` puts what :mod:`benchmarks.elsewhere.rows` wrote of
data sets that another machine built in the place of older results, and the digests of their pairs
in repositories_pairs.json.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import yaml

from benchmarks.corpus.repositories.measure import Results, build
from benchmarks.corpus.repositories.page import (
    table_of_all,
    table_of_classes,
    table_of_repositories,
)
from benchmarks.corpus.repositories.rule import (
    LATER_LISTS,
    LIST,
    LISTS,
    OF_NEW,
    Facts,
    Repository,
    RepositoryList,
    choose,
    choose_later,
    choose_new,
    dependencies_of,
    facts_of,
    git_directory_of,
)
from benchmarks.corpus.repositories.taken import lines_of, pairs_of, take
from benchmarks.folders import RESULTS
from benchmarks.project.cloning import CloneFailed
from benchmarks.project.table import write_between_marks
from cass_ray.corpus.program import SourceError

_CHOICES: dict[str, Callable[[RepositoryList, Callable[[str], Facts]], RepositoryList]] = {
    "choose": choose,
    **{f"choose-{name}": partial(choose_later, name=name) for name in LATER_LISTS},
    **{f"choose-{name}": partial(choose_new, name=name) for name in OF_NEW},
}


def main() -> int:
    """Exit codes: 0 done, 1 a repository could not be had, 2 usage."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus.repositories")
    parser.add_argument("action", choices=(*_CHOICES, "measure", "take", "page"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--date", default=datetime.now(UTC).date().isoformat())
    parser.add_argument("--built-by", default="")
    parser.add_argument("--seconds", type=int, default=1800)
    parser.add_argument("--set", action="append", default=[], dest="settings")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS / "repositories.json")
    parser.add_argument("--page", type=Path, default=RESULTS / "repositories.md")
    chosen = parser.parse_args()
    listed = RepositoryList.load()
    with tempfile.TemporaryDirectory(prefix="cass-repositories-") as place:
        if chosen.action in _CHOICES:
            return _choose(chosen.action, listed, chosen.clones, Path(place))
        results = Results.read(chosen.results)
        if chosen.action == "take":
            lines = lines_of(map(Path, chosen.names))
            at_commits = _at_commits(listed, chosen.clones)
            print("\n".join(take(at_commits, results, lines, chosen.date, chosen.built_by)))
            results.write(chosen.results)
            repositories = [row for _, row in listed.by_list()]
            _write_pairs(chosen.results, pairs_of(lines, repositories))
            _write(listed, results, chosen)
            return 0
        failed = 0
        for name, row in _to_build(listed, results, chosen, parser):
            try:
                source = git_directory_of(row.repository, chosen.clones, Path(place))
                dependencies = dependencies_of(row, chosen.clones, Path(place))
            except (SourceError, CloneFailed) as error:
                print(f"not tried: {row.repository}: {error}")
                failed = 1
                continue
            out = (chosen.out or Path(place)) / row.repository.replace("/", "+")
            built = row.model_copy(update={"commit": facts_of(source).commit})
            options = [word for each in chosen.settings for word in ("--set", each)]
            options += [word for each in dependencies for word in ("--dependency", each)]
            seen = build(name, built, f"repository:{source}", out, chosen.seconds, options)
            print(f"{seen.pairs} of {seen.rows}  {row.repository} ({seen.seconds:.0f} s)")
            results.replace(seen)
            results.write(chosen.results)
            _write(listed, results, chosen)
        _write(listed, results, chosen)
    return failed


def _choose(action: str, listed: RepositoryList, clones: Path | None, place: Path) -> int:
    def facts(name: str) -> Facts:
        return facts_of(git_directory_of(name, clones, place))

    taken = _CHOICES[action](listed, facts)
    LIST.write_text(_as_yaml(taken), "utf-8")
    numbers = ", ".join(f"{len(getattr(taken, name))} {name}" for name in LISTS)
    print(f"{numbers}; {len(taken.not_had)} not had")
    return int(bool(taken.not_had))


def _at_commits(listed: RepositoryList, clones: Path | None) -> RepositoryList:
    """``listed`` with the commits of ``clones``, which were built."""
    if clones is None:
        return listed

    def built(row: Repository) -> Repository:
        directory = clones / row.repository.replace("/", "+") / "repo"
        known = facts_of(directory).commit if directory.is_dir() else row.commit
        return row.model_copy(update={"commit": known})

    lists = {name: [built(row) for row in getattr(listed, name)] for name in LISTS}
    return listed.model_copy(update=lists)


def _as_yaml(listed: RepositoryList) -> str:
    written = listed.model_dump(exclude_defaults=True)
    return yaml.safe_dump(written, sort_keys=False, width=100)


def _to_build(
    listed: RepositoryList,
    results: Results,
    chosen: argparse.Namespace,
    parser: argparse.ArgumentParser,
) -> list[tuple[str, Repository]]:
    if chosen.action == "page":
        return []
    rows = list(listed.by_list())
    if unknown := set(chosen.names) - {row.repository for _, row in rows}:
        parser.error(f"not in {LIST}: {', '.join(sorted(unknown))}")
    if chosen.names:
        return [(name, row) for name, row in rows if row.repository in chosen.names]
    tried = {each.repository for each in results.measured}
    return [(name, row) for name, row in rows if name == "by_rule" and row.repository not in tried]


def _pairs_file(results: Path) -> Path:
    return results.with_name(f"{results.stem}_pairs.json")


def _write_pairs(results: Path, new: dict[str, list[str]]) -> None:
    pairs = _read_pairs(results)
    for name, ids in new.items():
        pairs[name] = sorted({*pairs.get(name, ()), *ids})
    text = json.dumps(dict(sorted(pairs.items())), separators=(",", ":"))
    _pairs_file(results).write_text(text.replace("],", "],\n") + "\n", "utf-8")


def _read_pairs(results: Path) -> dict[str, list[str]]:
    path = _pairs_file(results)
    pairs: dict[str, list[str]] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return pairs


def _write(listed: RepositoryList, results: Results, chosen: argparse.Namespace) -> None:
    chosen.page.with_suffix(".csv").write_text(table_of_repositories(listed, results), "utf-8")
    write_between_marks(chosen.page, "all", table_of_all(results, _read_pairs(chosen.results)))
    write_between_marks(chosen.page, "stopped", table_of_classes(results.measured))


if __name__ == "__main__":
    raise SystemExit(main())
