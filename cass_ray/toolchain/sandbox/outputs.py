"""Files that an untrusted program wrote, read by somebody who has more rights than it had."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def read_written(path: Path, limit: int) -> bytes | None:
    """The content of ``path``, a file in a folder that a program could write to.

    None where there is none, and where it is no regular file (a link to a file of this machine, a
    pipe that never ends, a device), has a second name, or holds more than ``limit`` bytes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or status.st_size > limit:
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(limit + 1)
    finally:
        os.close(descriptor)
    return content if len(content) <= limit else None
