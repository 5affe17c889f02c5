"""Processors for one of several runs side by side, so that no two count on the same ones."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path
from typing import TextIO


def claim(count: int, folder: Path | None = None) -> list[TextIO]:
    """Bind this process and its children to ``count`` processors that no other run has claimed.

    The claims lie in ``folder`` and hold while the files returned are open; where too few are free
    the rest is shared with others. A build, PyTorch and the engine start a thread for each
    processor that they may use.
    """
    place = folder or Path(tempfile.gettempdir()) / "cass-processors"
    place.mkdir(parents=True, exist_ok=True)
    usable = sorted(os.sched_getaffinity(0))
    claims: dict[int, TextIO] = {}
    for number in usable:
        if len(claims) == count:
            break
        file = (place / str(number)).open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            claims[number] = file
        except OSError:
            file.close()
    shared = [number for number in usable if number not in claims][: count - len(claims)]
    os.sched_setaffinity(0, {*claims, *shared})
    return list(claims.values())
