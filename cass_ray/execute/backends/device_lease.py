"""One program a GPU at a time, across the processes of a node: a file lock for each device."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_POLL_SECONDS = 0.02


@contextmanager
def leased_device(vendor: str, indices: Sequence[int]) -> Iterator[int]:
    """Wait for a free device of ``indices`` and hold it. The kernel frees it if the holder dies.

    Raises :class:`ValueError` when ``indices`` is empty.
    """
    if not indices:
        raise ValueError(f"no {vendor} device to lease")
    folder = Path(tempfile.gettempdir()) / f"cass-devices-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    while True:
        for index in indices:
            descriptor = os.open(folder / f"{vendor}-{index}", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                continue
            try:
                yield index
            finally:
                os.close(descriptor)
            return
        time.sleep(_POLL_SECONDS)
