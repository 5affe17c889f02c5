"""Which repositories are measured: the rule of ``benchmarks/corpus/repositories.md``, applied."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import Field

from benchmarks.folders import REPOSITORY
from benchmarks.project.cloning import clone
from benchmarks.project.rows import ProjectRow
from cass_ray.config import StrictModel
from cass_ray.corpus.program import SourceError
from cass_ray.corpus.reading.git import (
    GitTree,
    fetch_snapshot,
    find_git_directory,
    resolve_revision,
)
from cass_ray.corpus.screening.licenses import PERMISSIVE, license_of_tree

FOLDER = Path(__file__).parent
LIST = FOLDER / "repositories.yaml"
LISTS = (
    "named", "by_rule", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
    "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth",
    "seventeenth",
)  # fmt: skip
LATER_LISTS = {"second": "by_rule", "third": "second", "fourth": "third", "fifth": "fourth"}
"""Later lists, with the one that each follows."""
TAKEN = 60
LATER = 30
OF_NEW = {"sixth": 40, "seventh": 15}
"""Lists of new candidates, with the number that each takes."""
LIFTED, EXECUTED = "lifted", "executed"
"""How a repository is built beside the plain way."""

_PUBLIC = REPOSITORY / "jobs" / "configs" / "corpus_public.yaml"
_ADDRESS = re.compile(r"repository:https://github\.com/([\w.-]+/[\w.-]+?)\.git@")
_NEW = ("linked.txt", "indexed.txt")
_FEWEST, _MOST, _HIP_FILES = 5, 400, 5
_LEFT_OUT_OWNERS = ("rocm/",)


class Repository(StrictModel):
    """A repository that is measured."""

    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    """Owner and name on GitHub."""
    commit: str = ""
    """Empty for the newest commit."""
    kind: str = ""
    cu_files: int = 0
    """At ``commit``; the rule's order."""
    parts: int = Field(default=1, ge=1)
    """Data sets that it is built in where another machine builds it: OWNER+NAME+1 and so on."""
    dependencies: dict[str, str] = {}
    """Name -> ``owner/name`` of what it takes from other repositories: with ``--clones``, where
    nothing is fetched, their newest commits are given in place of the pinned ones."""


class RepositoryList(StrictModel):
    """The content of ``repositories.yaml``."""

    named: list[Repository]
    by_rule: list[Repository] = []
    second: list[Repository] = []
    """The candidates that fit after the last of ``by_rule``."""
    third: list[Repository] = []
    """The candidates that fit after the last of ``second``."""
    fourth: list[Repository] = []
    """The candidates that fit after the last of ``third``."""
    fifth: list[Repository] = []
    """The candidates that fit after the last of ``fourth``: all that are left, thirteen."""
    sixth: list[Repository] = []
    """The first forty that fit of the candidates that others' pages and an index of code name."""
    seventh: list[Repository] = []
    """The candidates of ``sixth`` that fit after the last one of that list."""
    eighth: list[Repository] = []
    """Small ones: the first twelve of the last rule."""
    ninth: list[Repository] = []
    """The eight that fit after the last of ``eighth``."""
    tenth: list[Repository] = []
    """Names that somebody knew, and clones that were had: ten middle-sized ones and ten smaller."""
    eleventh: list[Repository] = []
    """Names that somebody knew, of 10 to 120 files."""
    twelfth: list[Repository] = []
    """Courses, samples and people's own programs."""
    thirteenth: list[Repository] = []
    """The same of further names."""
    fourteenth: list[Repository] = []
    """These are the clones that earlier lists left over."""
    fifteenth: list[Repository] = []
    """Clones whose README alone names a permissive licence."""
    sixteenth: list[Repository] = []
    """Clones that were had and have few files, or more than the rule takes."""
    seventeenth: list[Repository] = []
    """Courses, samples, own programs and small libraries of further names, and of known ones."""
    not_had: list[str] = []
    """Candidates before the last one taken of which no clone could be had."""

    def by_list(self) -> Iterator[tuple[str, Repository]]:
        """Each repository with the name of its list."""
        for name in LISTS:
            yield from ((name, row) for row in getattr(self, name))

    @classmethod
    def load(cls, path: Path = LIST) -> RepositoryList:
        """The list at ``path``."""
        return cls.model_validate(yaml.safe_load(path.read_text("utf-8")))


@dataclass(frozen=True)
class Facts:
    """The facts of one commit that the rule decides by."""

    commit: str
    license: str
    cu_files: int
    hip_files: int

    @property
    def fits(self) -> bool:
        """Whether the rule takes it."""
        return (
            self.license in PERMISSIVE
            and _FEWEST <= self.cu_files <= _MOST
            and self.hip_files < _HIP_FILES
        )


def candidates(named: list[str]) -> Iterator[str]:
    """Owner and name of each candidate, in the rule's order, without those that are ``named``."""
    names = _ADDRESS.findall(_PUBLIC.read_text("utf-8"))
    return _in_order([*names, *_names_in("moat.txt")], named)


def new_candidates(left_out: list[str]) -> Iterator[str]:
    """The same for the lists of new ones: those of the second file come after all of the first."""
    for file in _NEW:
        yield from _in_order(_names_in(file), left_out)


def _names_in(file: str) -> list[str]:
    return (FOLDER / file).read_text("utf-8").split()


def _in_order(names: list[str], names_left_out: list[str]) -> Iterator[str]:
    by_name = {name.lower(): name for name in sorted(names)}
    left_out = {name.lower() for name in names_left_out}
    for lower in sorted(by_name, key=lambda name: hashlib.sha256(name.encode()).hexdigest()):
        if lower not in left_out and not lower.startswith(_LEFT_OUT_OWNERS):
            yield by_name[lower]


def choose(listed: RepositoryList, facts_of: Callable[[str], Facts]) -> RepositoryList:
    """``listed`` with the repositories that the rule takes, in the order in which they are tried.

    ``facts_of`` raises :class:`SourceError` where no clone can be had.
    """
    names = candidates([each.repository for each in listed.named])
    taken, not_had = _first(names, TAKEN, listed.by_rule, facts_of)
    return listed.model_copy(update={"by_rule": taken, "not_had": not_had})


def choose_later(
    listed: RepositoryList, facts_of: Callable[[str], Facts], name: str
) -> RepositoryList:
    """:func:`choose` for a later list: the candidates that fit after the list before."""
    names = list(candidates([each.repository for each in listed.named]))
    before: list[Repository] = getattr(listed, LATER_LISTS[name])
    last = max(names.index(each.repository) for each in before)
    taken, not_had = _first(names[last + 1 :], LATER, getattr(listed, name), facts_of)
    earlier = [each for each in listed.not_had if each in names[:last]]
    return listed.model_copy(update={name: taken, "not_had": [*earlier, *not_had]})


def choose_new(
    listed: RepositoryList, facts_of: Callable[[str], Facts], name: str
) -> RepositoryList:
    """:func:`choose` for a list of :data:`OF_NEW`, whose candidates stand in files of their own."""
    before = LISTS[: LISTS.index(name)]
    names = list(new_candidates([row.repository for of, row in listed.by_list() if of in before]))
    taken, not_had = _first(names, OF_NEW[name], getattr(listed, name), facts_of)
    missing = dict.fromkeys([*listed.not_had, *not_had])
    return listed.model_copy(update={name: taken, "not_had": list(missing)})


def _first(
    names: Iterable[str],
    number: int,
    written: list[Repository],
    facts_of: Callable[[str], Facts],
) -> tuple[list[Repository], list[str]]:
    """The first ``number`` of ``names`` that fit, and those before of which there is no clone."""
    by_name = {each.repository: each for each in written}
    taken: list[Repository] = []
    not_had: list[str] = []
    for name in names:
        try:
            facts = facts_of(name)
        except SourceError:
            not_had.append(name)
            continue
        if facts.fits:
            row = by_name.get(name, Repository(repository=name))
            known = {"commit": facts.commit, "cu_files": facts.cu_files}
            taken.append(row.model_copy(update=known))
        if len(taken) == number:
            break
    taken.sort(key=lambda each: each.cu_files)  # stable: the hash's order among equals
    return taken, not_had


def facts_of(directory: Path) -> Facts:
    """The facts of the newest commit of the clone or git directory ``directory``; SourceError."""
    git_directory = find_git_directory(directory)
    commit = resolve_revision(git_directory, "HEAD")
    cu_files = hip_files = 0
    with GitTree(git_directory, commit) as tree:
        for listed in tree.walk():
            folders = listed.path.split("/")[:-1]
            cu_files += listed.path.endswith(".cu")
            hip_files += listed.path.endswith(".hip") or "hip" in folders
        return Facts(commit, license_of_tree(tree), cu_files, hip_files)


def dependencies_of(row: Repository, clones: Path | None, place: Path) -> list[str]:
    """``NAME=DIR`` for what ``row`` takes from repositories of ``clones``.

    Raises :class:`~benchmarks.project.cloning.CloneFailed`.
    """
    given = []
    for name, repository in row.dependencies.items() if clones is not None else ():
        folder = place / "dependencies" / repository.replace("/", "+")
        if not folder.exists():
            clone(ProjectRow(project=repository), folder.parent, clones)
        given.append(f"{name}={folder}")
    return given


def git_directory_of(name: str, clones: Path | None, place: Path) -> Path:
    """The git directory of ``name``: ``clones``/OWNER+NAME/repo, or fetched below ``place``.

    Raises SourceError.
    """
    if clones is None:
        fetched = place / f"{name.replace('/', '+')}.git"
        fetch_snapshot(f"https://github.com/{name}.git", "HEAD", fetched)
        return fetched
    directory = clones / name.replace("/", "+") / "repo"
    if not directory.is_dir():
        raise SourceError(f"{directory} is missing")
    return directory
