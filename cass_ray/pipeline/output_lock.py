"""One writer at a time for the folder of a data set."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class OutputBusy(RuntimeError):
    """Another process writes to the folder."""


@contextmanager
def output_lock(folder: Path) -> Iterator[None]:
    """Hold ``folder``, which is made where there is none; the kernel lets go if we die.

    The folder itself is locked, so that nothing of it is in the data set. Raises
    :class:`OutputBusy`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"another build writes to {folder}: wait for it, or choose another --out"
            raise OutputBusy(message) from None
        yield
    finally:
        os.close(descriptor)
