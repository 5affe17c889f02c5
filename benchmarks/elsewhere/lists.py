"""Lists for :mod:`benchmarks.elsewhere.commands`: data sets of repositories that are there.

``python -m benchmarks.elsewhere.lists LISTS SOURCES OUT NAME=OWNER/NAME[*PROCESSORS],… …`` writes
LISTS/NAME.list, a build of each repository in the order given: of the sources in SOURCES/OWNER+NAME
(:mod:`benchmarks.elsewhere.sources`), with the dependencies of ``repositories.yaml`` that are
there, to OUT/OWNER+NAME and OUT/OWNER+NAME.log. ``OWNER/NAME:lifted`` has rows by lifting too, in
OUT/OWNER+NAME+lifted; of ``OWNER/NAME:executed`` there is also OUT/OWNER+NAME+executed, built after
the other from its cached results, in which pairs are run. SOURCES and OUT are where they are on the
machine that runs the lists.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus.repositories.rule import EXECUTED, LIFTED, RepositoryList

_KINDS = {"": ("",), LIFTED: (LIFTED,), EXECUTED: ("", EXECUTED)}
_SETTINGS = {"": (), LIFTED: ("lifted_rows=true",), EXECUTED: ("execute=true",)}
_SECONDS = 3600
_BUILD = ("python", "-m", "benchmarks.elsewhere.without_ray", "--resume")
_LIMITS = ("limits.cpu_seconds=120", "limits.wall_seconds=600", "rows_per_block=2")


def build_of(listed: RepositoryList, asked: str, sources: Path, out: Path) -> str:
    """The line for ``OWNER/NAME[:lifted|:executed][*PROCESSORS]``; ValueError."""
    what, _, processors = asked.partition("*")
    name, _, kind = what.partition(":")
    row = next((each for _, each in listed.by_list() if each.repository == name), None)
    if row is None:
        raise ValueError(f"{name} is in no list of repositories.yaml")
    if kind not in _KINDS:
        raise ValueError(f"{asked}: a build is {', '.join(filter(None, _KINDS))} or plain")
    words = ["--source", f"repository:{sources / _folder(name)}"]
    for dependency, repository in row.dependencies.items():
        words += ["--dependency", f"{dependency}={sources / _folder(repository)}"]
    limits = [*_LIMITS, f"slots={processors or 1}"]
    commands = []
    for each in _KINDS[kind]:
        data_set = out / (_folder(name) + (f"+{each}" if each else ""))
        command = [*_BUILD, "--out", str(data_set), *words]
        command += [word for text in (*limits, *_SETTINGS[each]) for word in ("--set", text)]
        commands.append(f"{' '.join(command)} > {data_set}.log 2>&1")
    return f"{_SECONDS}*{processors or 1}\t{'; '.join(commands)}"


def _folder(name: str) -> str:
    return name.replace("/", "+")


def _lists(given: list[str]) -> Iterator[tuple[str, list[str]]]:
    for each in given:
        name, _, repositories = each.partition("=")
        yield name, repositories.split(",")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("lists", nargs="+", metavar="NAME=OWNER/NAME[*PROCESSORS],…")
    given = parser.parse_args()
    listed = RepositoryList.load()
    for name, repositories in _lists(given.lists):
        lines = [build_of(listed, each, given.sources, given.out) for each in repositories]
        (given.folder / f"{name}.list").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
