"""Clones of the projects of a list and of what they depend on."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.project.rows import ProjectRow

_ABSENT = re.compile(r"unable to read sha1 file of (\S+)")
"""Git directories that somebody copied may lack the largest files: images, films."""


class CloneFailed(Exception):
    """A repository could not be cloned; the message is git's own."""


@dataclass(frozen=True)
class Checkout:
    """The work tree of a project, its commit, and the folders of its dependencies by name."""

    tree: Path
    commit: str
    dependencies: dict[str, Path]


def clone(row: ProjectRow, place: Path, mirrors: Path | None) -> Checkout:
    """Clone ``row`` and its dependencies below ``place``.

    From GitHub, or from the git directories ``OWNER+NAME/repo`` of the folder ``mirrors``. Raises
    :class:`CloneFailed`.
    """
    tree = place / row.project.replace("/", "+")
    _clone(f"{row.project}@{row.commit}", tree, mirrors)
    for folder, repository in row.submodules.items():
        inside = tree / folder
        if inside.is_dir() and not any(inside.iterdir()):
            inside.rmdir()
        if repository.startswith("/"):
            shutil.copytree(repository, inside)
        else:
            _clone(repository, inside, mirrors)
    if not row.submodules and mirrors is None:
        _git(["-C", str(tree), "submodule", "update", "--init", "--recursive", "--depth=1"])
    dependencies = {}
    for name, source in row.dependencies.items():
        dependencies[name] = Path(source)
        if not source.startswith("/"):
            dependencies[name] = place / "dependencies" / row.project.replace("/", "+") / name
            _clone(source, dependencies[name], mirrors)
    return Checkout(tree, _git(["-C", str(tree), "rev-parse", "HEAD"]).strip(), dependencies)


def _clone(source: str, target: Path, mirrors: Path | None) -> None:
    """``source``: owner and name, and behind ``@`` a commit or tag other than the newest."""
    repository, _, commit = source.partition("@")
    address = f"https://github.com/{repository}"
    if mirrors is not None:
        address = str(mirrors / repository.replace("/", "+") / "repo")
        if not Path(address).is_dir():
            raise CloneFailed(f"{address} is missing")
    depth = [] if commit or mirrors is not None else ["--depth=1"]
    _git(["clone", "--quiet", "--no-checkout", *depth, address, str(target)])
    inside = ["-C", str(target)]
    if commit:
        wanted = _git([*inside, "rev-parse", f"{commit}^{{commit}}"]).strip()
        _git([*inside, "update-ref", "--no-deref", "HEAD", wanted])
    try:
        _git([*inside, "reset", "--hard", "--quiet"])
    except CloneFailed as error:
        absent = _ABSENT.findall(str(error))
        if mirrors is None or not absent:
            raise
        _git([*inside, "reset", "--quiet"])
        print(f"{repository}: {address} has not {', '.join(absent)}", file=sys.stderr)


def _git(arguments: list[str]) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CloneFailed(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout
