"""A tree of files to read programs from: a directory, or a revision of a repository.

Paths are relative to the root of the tree, POSIX, normalized. Nothing outside the root is ever
read, whatever symbolic links say.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from cass_ray.corpus.reading.open_inside import OutsideError, open_inside, read_inside
from cass_ray.dataset.row import Reason
from cass_ray.printable import printable

_NAME_BYTES = 255
_PATH_BYTES = 3072
"""Trees are written to disk below folders whose paths count towards the 4096 of Linux."""

MAXIMUM_DEPTH = 200
"""Folders in folders; what walks and makes them recurs."""
SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", ".tox", "site-packages", "node_modules"}
)
"""Names of folders that hold version control or installed packages: no part of a project."""


class FileProblemError(Exception):
    """A file cannot be read; ``reason`` is the reject reason, the message says why."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> tuple[type[FileProblemError], tuple[Reason, str]]:
        """An exception travels to other processes by ``args``, which lack the reason."""
        return (FileProblemError, (self.reason, str(self)))


@dataclass(frozen=True, slots=True)
class Listed:
    """What :meth:`FileTree.walk` finds: a file, unless ``is_repository``."""

    path: str
    problem: FileProblemError | None = None
    """Why the file is already known to be unreadable."""
    is_repository: bool = False
    """A folder that is a repository of its own, which the walk does not enter."""


class FileTree(Protocol):
    """Read access to the files below one root."""

    def walk(self) -> Iterator[Listed]:
        """All files and symbolic links, in a fixed order."""
        ...

    def is_file(self, path: str) -> bool:
        """Whether ``path`` is a regular file, or a link to one inside the tree."""
        ...

    def is_directory(self, path: str) -> bool:
        """Whether ``path`` is a directory inside the tree."""
        ...

    def size(self, path: str) -> int:
        """Size in bytes. Raises :class:`FileProblemError`."""
        ...

    def read(self, path: str) -> bytes:
        """The content. Raises :class:`FileProblemError`."""
        ...


def read_text(tree: FileTree, path: str, most_bytes: int) -> str:
    """The text of a file; empty where it is larger than ``most_bytes``, or cannot be read."""
    try:
        if tree.size(path) > most_bytes:
            return ""
        return tree.read(path).decode("utf-8", "replace")
    except FileProblemError:
        return ""


def readable_files(tree: FileTree, most_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Paths and contents of the files of at most ``most_bytes``, in the tree's order.

    Repositories inside, and files with a problem, are passed over.
    """
    for listed in tree.walk():
        if listed.problem is not None or listed.is_repository:
            continue
        try:
            if tree.size(listed.path) > most_bytes:
                continue
            content = tree.read(listed.path)
        except FileProblemError:
            continue
        yield listed.path, content


def path_problem(path: str) -> FileProblemError | None:
    """Why ``path``, as listed by an archive or a folder, is not safe to use (None when it is)."""
    pure = PurePosixPath(path.replace("\\", "/"))
    if pure.is_absolute() or (len(path) > 1 and path[1] == ":" and path[0].isalpha()):
        return FileProblemError(Reason.UNSAFE_PATH, f"{printable(path)}: an absolute path")
    if ".." in pure.parts:
        return FileProblemError(Reason.UNSAFE_PATH, f"{printable(path)}: leaves the tree it is in")
    if printable(path) != path:
        return FileProblemError(
            Reason.UNSAFE_PATH,
            f"{printable(path)}: not valid UTF-8 or with control characters; rename it",
        )
    if len(pure.parts) > MAXIMUM_DEPTH:
        return FileProblemError(
            Reason.UNSAFE_PATH,
            f"{printable(path[:_NAME_BYTES])}…: deeper than {MAXIMUM_DEPTH} folders",
        )
    if len(path.encode()) > _PATH_BYTES or any(len(x.encode()) > _NAME_BYTES for x in pure.parts):
        return FileProblemError(
            Reason.UNSAFE_PATH,
            f"{printable(path[:_NAME_BYTES])}…: longer than a file's name or path can be "
            f"({_NAME_BYTES} and {_PATH_BYTES} bytes)",
        )
    return None


def is_regular(path: Path) -> bool:
    """Whether a file is there; a name that no file can have is not an error."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


class DirectoryTree:
    """The files below a directory. Symbolic links to directories are not walked into.

    In a folder of clones each clone is a repository of its own; in a clone, those further down
    are its submodules and belong to it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.is_clone = (root / ".git").exists()

    def walk(self) -> Iterator[Listed]:
        """Names sorted, files before folders; memory is bounded by the directories on the way down.

        Version-control folders are skipped. A directory that cannot be listed is yielded as
        one entry with its problem.
        """
        pending = [""]
        while pending:
            folder = pending.pop()
            children = yield from self._list(folder)
            pending.extend(
                f"{folder}{name}/"
                for name, is_directory in reversed(children)
                if is_directory and name not in SKIPPED_FOLDERS
            )

    def _list(self, folder: str) -> Generator[Listed, None, list[tuple[str, bool]]]:
        """Yields the files of ``folder``; returns its children to look into: (name, is folder)."""
        try:
            with os.scandir(self.root / folder) as entries:
                children = sorted(
                    (entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries
                )
        except OSError as error:
            path = folder.rstrip("/") or "."
            yield Listed(path, _os_problem(path, error))
            return []
        if folder and not self.is_clone and any(name == ".git" for name, _ in children):
            yield Listed(folder.rstrip("/"), is_repository=True)
            return []
        for name, is_directory in children:
            if not is_directory:
                path = f"{folder}{name}"
                yield Listed(path, path_problem(path))
        return children

    def is_file(self, path: str) -> bool:
        try:
            self._status(path)
        except FileProblemError:
            return False
        return True

    def is_directory(self, path: str) -> bool:
        try:
            with open_inside(self.root, path) as descriptor:
                return stat.S_ISDIR(os.fstat(descriptor).st_mode)
        except (OSError, ValueError):
            return False  # a name that is too long

    def size(self, path: str) -> int:
        return self._status(path).st_size

    def read(self, path: str) -> bytes:
        try:
            return read_inside(self.root, path, self._status(path).st_size)
        except OSError as error:
            raise _os_problem(path, error) from None

    def _status(self, path: str) -> os.stat_result:
        try:
            with open_inside(self.root, path) as descriptor:
                status = os.fstat(descriptor)
        except OutsideError:
            raise FileProblemError(
                Reason.UNSAFE_PATH,
                f"{printable(path)}: a symbolic link to {os.path.realpath(self.root / path)}, "
                "outside the source; name the folder it points into as a source of its own",
            ) from None
        except (OSError, ValueError) as error:
            raise _os_problem(path, error) from None
        if not stat.S_ISREG(status.st_mode):
            raise FileProblemError(Reason.UNREADABLE, f"{printable(path)}: not a regular file")
        return status


def _os_problem(path: str, error: OSError | ValueError) -> FileProblemError:
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        text = "a symbolic link that leads back to itself"
    elif isinstance(error, OSError):
        text = error.strerror or str(error)
    else:
        text = str(error)
    return FileProblemError(Reason.UNREADABLE, f"{printable(path)}: {text}")
