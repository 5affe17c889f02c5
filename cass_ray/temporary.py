"""Folders for a while, which name the process that they belong to.

A process that is killed leaves its folders behind, in memory too. Whoever makes one next removes
those of processes that are no more.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_OWNER = re.compile(r"cass-[a-z-]+-(\d+)-(\d+)-[^/]*")
_MEMORY = Path("/dev/shm")


def temporary_prefix(kind: str) -> str:
    """How a folder of this process is called, for ``prefix`` of :mod:`tempfile`'s functions.

    ``kind`` are small letters and hyphens. The first call of a process sweeps.
    """
    _sweep_once()
    return f"cass-{kind}-{_name_space()}-{os.getpid()}-"


@functools.cache
def _sweep_once() -> None:
    for parent in {Path(tempfile.gettempdir()), _MEMORY}:
        sweep(parent)


def sweep(parent: Path) -> None:
    """Remove from ``parent`` what belonged to processes of this user that are no more.

    A number of another name space (a container's) says nothing about who lives there: such
    folders stay.
    """
    with suppress(OSError):
        for entry in os.scandir(parent):
            owner = _OWNER.fullmatch(entry.name)
            if owner is None or int(owner[1]) != _name_space() or _is_alive(owner[2]):
                continue
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False) and _is_own(entry):
                    shutil.rmtree(entry.path, ignore_errors=True)


def _is_own(entry: os.DirEntry[str]) -> bool:
    return entry.stat(follow_symlinks=False).st_uid == os.getuid()


def _is_alive(number: str) -> bool:
    return Path("/proc", number).exists()


@functools.cache
def _name_space() -> int:
    """That of process numbers; 0 where there is none to be seen."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0
