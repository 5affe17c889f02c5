"""``cass translate --in-place`` and ``--branch``: the port replaces its original, which is kept."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from cass_ray.git_command import GitError, run_git
from cass_ray.temporary import temporary_prefix
from cass_ray.translate.project.tree import STATE, source_files
from cass_ray.whole_file import write_whole

BACKUP = ".orig"
_TIMEOUT = 120.0


class InPlaceError(ValueError):
    """The port cannot be put there; the message says what is in the way."""


class InPlace:
    """Puts what is written to ``folder`` in the place of ``path``, a file or a folder.

    Each file that changes is kept beside itself with :data:`BACKUP` at its end. With ``branch`` it
    is kept by git in its place: the changes are a commit on a new branch, which is checked out.

    Raises :class:`InPlaceError` where that would lose something: a backup of another content is
    there; ``path`` is in no git repository, or has changes that are not committed; the branch is
    there already.
    """

    def __init__(self, path: Path, branch: str = "") -> None:
        self._path = path.resolve()
        self._root = self._path if path.is_dir() else self._path.parent
        self._branch = branch
        if branch:
            self._check_repository()
        self._scratch = Path(tempfile.mkdtemp(prefix=temporary_prefix("in-place")))
        self.folder = self._scratch / "port"
        if not path.is_dir():
            self.folder.mkdir()

    def __enter__(self) -> InPlace:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)

    def apply(self) -> list[Path]:
        """The files that changed, each in its place now.

        Raises :class:`InPlaceError` before anything is written, and where git fails.
        """
        changed = list(self._changed())
        if not self._branch:
            self._keep(changed)
        elif changed:
            self._git("switch", "--quiet", "--create", self._branch)
        for written, target in changed:
            mode = target.stat().st_mode if target.exists() else None
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, written.read_bytes())
            if mode is not None:
                target.chmod(mode)
        targets = [target for _, target in changed]
        if self._branch and changed:
            self._git("add", "--", *map(str, targets))
            self._git("commit", "--quiet", "-m", "Port CUDA to HIP (cass translate)")
        return targets

    def _changed(self) -> Iterator[tuple[Path, Path]]:
        for written in source_files(self.folder):
            name = written.relative_to(self.folder)
            target = self._root / name
            if name.as_posix() == STATE:
                continue
            if not target.exists() or target.read_bytes() != written.read_bytes():
                yield written, target

    def _keep(self, changed: Sequence[tuple[Path, Path]]) -> None:
        kept = [
            (target, target.with_name(target.name + BACKUP))
            for _, target in changed
            if target.exists()
        ]
        for target, backup in kept:
            if backup.exists() and backup.read_bytes() != target.read_bytes():
                raise InPlaceError(f"{backup} is there and holds something else: move it first")
        for target, backup in kept:
            shutil.copy2(target, backup)

    def _check_repository(self) -> None:
        if self._git("status", "--porcelain", "--untracked-files=no", "--", str(self._path)):
            raise InPlaceError(f"{self._path} has changes that are not committed: commit them")
        if self._git("branch", "--list", self._branch):
            raise InPlaceError(f"the branch {self._branch} is there: give another name")

    def _git(self, *arguments: str) -> str:
        try:
            return run_git(arguments, self._root, seconds=_TIMEOUT, hooks=True)
        except GitError as error:
            raise InPlaceError(f"--branch: {arguments[0]}: {error}") from error
