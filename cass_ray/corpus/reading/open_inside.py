"""Files below a folder, opened step by step: no link leads out, whoever exchanges names meanwhile.

Each part of a path is opened relative to the folder before it and never through a link; a link's
target is walked in the same way. This is what ``openat2`` does with ``RESOLVE_BENEATH``, which
Python does not offer.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LINKS = 40
"""How many links the kernel follows in one path before it gives up (ELOOP)."""
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER_FLAGS = _FLAGS | os.O_DIRECTORY


class OutsideError(PermissionError):
    """A path, or a link in it, leads out of the folder that is read."""


class TooLargeError(OSError):
    """A file has more bytes than the reader takes."""


@contextmanager
def open_inside(root: Path, name: str) -> Iterator[int]:
    """A descriptor of the regular file or folder ``name`` below ``root``.

    Raises:
        OutsideError: ``name`` leads out of ``root``.
        OSError: there is no such file, or it is neither a regular file nor a folder.
        ValueError: no file can have this name.
    """
    walk = _Walk(root)
    try:
        descriptor = walk.open(name)
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise OSError(errno.EINVAL, "not a regular file", name)
        yield descriptor
    finally:
        walk.close()


def read_inside(root: Path, name: str, limit: int) -> bytes:
    """The content of a regular file of at most ``limit`` bytes; never more of it is read.

    Raises:
        TooLargeError: it is larger.
        OSError: as :func:`open_inside`.
    """
    with open_inside(root, name) as descriptor, open(descriptor, "rb", closefd=False) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise TooLargeError(errno.EFBIG, f"larger than {limit} bytes", name)
    return content


def is_file_inside(root: Path, name: str) -> bool:
    """Whether ``name`` is a regular file below ``root``, or a link to one."""
    try:
        with open_inside(root, name) as descriptor:
            return stat.S_ISREG(os.fstat(descriptor).st_mode)
    except (OSError, ValueError):
        return False


class _Walk:
    """The open folders from a root down to where a path has led so far."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders = [os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]

    def close(self) -> None:
        while self._folders:
            os.close(self._folders.pop())

    def open(self, name: str) -> int:
        """Walk to ``name``; its descriptor belongs to this walk."""
        pending = [part for part in reversed(name.split("/")) if part not in ("", ".")]
        links = 0
        while pending:
            part = pending.pop()
            if part == "..":
                self._leave(name)
                continue
            try:
                # A folder on the way must be one; what the last name is, its opener looks at.
                flags = _FOLDER_FLAGS if pending else _FLAGS
                self._folders.append(os.open(part, flags, dir_fd=self._folders[-1]))
            except OSError as error:
                target = self._link(part, error)
                links += 1
                if links > _LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
                pending += self._parts_of(target, name)
        return self._folders[-1]

    def _leave(self, name: str) -> None:
        if len(self._folders) == 1:
            raise OutsideError(errno.EPERM, f"leads out of {self._root}", name)
        os.close(self._folders.pop())

    def _link(self, part: str, error: OSError) -> str:
        """The target of a link that was not followed; another error is raised again."""
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise error
        try:
            return os.readlink(part, dir_fd=self._folders[-1])
        except OSError:
            raise error from None

    def _parts_of(self, target: str, name: str) -> list[str]:
        """The parts of a link's target, last first; an absolute one is walked from the root."""
        if target.startswith("/"):
            inside = [
                Path(target).relative_to(root)
                for root in (self._root.absolute(), self._root.resolve())
                if Path(target).is_relative_to(root)
            ]
            if not inside:
                raise OutsideError(errno.EPERM, f"a link to {target}, out of {self._root}", name)
            while len(self._folders) > 1:
                os.close(self._folders.pop())
            target = inside[0].as_posix()
        return [part for part in reversed(target.split("/")) if part not in ("", ".")]
