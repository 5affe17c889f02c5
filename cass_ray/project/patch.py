"""The difference between a project and its port, as a patch that ``git apply`` takes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cass_ray.git_command import GitError, run_git
from cass_ray.translate.project.tree import STATE


class PatchError(RuntimeError):
    """git is missing, or failed; the message is its own."""


def make_patch(original: Path, port: Path) -> str:
    """What leads from the tree ``original`` to the tree ``port``, with a/ and b/ before paths.

    Files are compared byte by byte, whatever attributes the project gives them.
    """
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "git"
        _git(["init", "--quiet", "--bare", str(repository)])
        (repository / "info").mkdir(exist_ok=True)
        (repository / "info" / "attributes").write_text("* -text -filter -ident diff\n")
        before, after = (_tree(repository, tree) for tree in (original, port))
        options = ["--no-color", "--no-ext-diff", "--no-textconv", "--full-index"]
        return _git([f"--git-dir={repository}", "diff", *options, before, after])


def _tree(repository: Path, tree: Path) -> str:
    where = [f"--git-dir={repository}", f"--work-tree={tree}"]
    (repository / "index").unlink(missing_ok=True)
    paths = "".join(f"{path}\0" for path in _files(tree))
    _git([*where, "update-index", "--add", "-z", "--stdin"], tree, paths)
    return _git([*where, "write-tree"]).strip()


def _files(tree: Path) -> Iterator[Path]:
    """Relative paths of a tree's files and links. Those of submodules and of other repositories
    within are files as others are, of which ``git add`` takes the commit alone; what projects
    ignore counts too."""
    for folder, folders, files in os.walk(tree):
        at = Path(folder)
        folders[:] = [name for name in folders if name != ".git"]
        for name in (*files, *(name for name in folders if (at / name).is_symlink())):
            path = (at / name).relative_to(tree)
            if name != ".git" and path != Path(STATE):
                yield path


def _git(arguments: list[str], folder: Path | None = None, given: str = "") -> str:
    try:
        return run_git(["-c", "core.autocrlf=false", *arguments], folder, given)
    except GitError as error:
        raise PatchError(str(error)) from error
