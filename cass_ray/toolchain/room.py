"""Folders of files that can be made again, and how much room they take."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_IN_USE = 3600.0
"""Seconds after its last use in which a file stays: a compiler may still be about to read it."""


def make_room(folder: Path, room: int, in_use: float = _IN_USE) -> None:
    """Remove the files of ``folder`` that were used least recently, until ``room`` bytes are left.

    One that was used within the last ``in_use`` seconds stays.
    """
    uses = []
    for entry in os.scandir(folder):
        with suppress(FileNotFoundError):  # another process removed it
            if entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                uses.append((status.st_mtime, status.st_size, Path(entry.path)))
    total, newest_unused = 0, time.time() - in_use
    for used, size, path in sorted(uses, reverse=True):
        total += size
        if total > room and used < newest_unused:
            path.unlink(missing_ok=True)
