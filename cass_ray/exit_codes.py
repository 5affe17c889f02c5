"""What the ``cass`` commands end with, and the one way to end with a message."""

from __future__ import annotations

import errno
import sys
from typing import NoReturn

import typer

from cass_ray.printable import printable_text

EXIT_DONE = 0
EXIT_FAILED = 1  # the work failed
EXIT_USAGE = 2  # arguments or settings are wrong
EXIT_TOOL_MISSING = 3
EXIT_CANNOT_TELL = 4  # nothing speaks against it, and nothing proves it
EXIT_INTERRUPTED = 130  # as a shell reports SIGINT


def fail(command: str, message: object, code: int) -> NoReturn:
    """Print ``cass COMMAND: MESSAGE`` to standard error and end the command; it may be empty.

    Raises:
        typer.Exit: always, with ``code``.
    """
    named = f"cass {command}".rstrip()
    sys.stderr.write(f"{named}: {printable_text(str(message))}\n")
    raise typer.Exit(code) from None


_NO_ROOM = {
    errno.ENOSPC: "free some space, or choose another disk (--out, CASS_CACHE, TMPDIR)",
    errno.EDQUOT: "your quota is used up: free some space, or choose another disk",
    errno.EFBIG: "raise the limit of file sizes (ulimit -f), or choose another disk",
    errno.EROFS: "choose a folder that can be written to",
    errno.EACCES: "choose a place that you may use",
    errno.EPERM: "choose a place that you may use",
    errno.EEXIST: "a file is in the way: choose another place",
    errno.ENOTDIR: "a file is in the way: choose another place",
    errno.EISDIR: "a folder is there: choose another name",
}
"""Errors of disks and places that are no defect of a program, and what to do about each."""


def no_room(error: OSError) -> str | None:
    """What to say where a disk or place takes nothing; None for other errors."""
    if error.errno not in _NO_ROOM:
        return None
    place = f"{error.filename}: " if isinstance(error.filename, str) else ""
    return f"{place}{error.strerror}: {_NO_ROOM[error.errno]}"
