"""Built programs, kept for the next run of the same program; those used last, within a bound."""

from __future__ import annotations

import os
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.checked_entry import DamagedEntry, content, is_sealed, seal, warn

LIMIT = "CASS_EXECUTABLES_MIB"
"""Environment variable: how many MiB of built programs are kept."""

DEFAULT_LIMIT_MIB = 4096

_SWEEPS_PER_LIMIT = 16
"""A process looks what is there once it has added a sixteenth of the limit, and at its first."""


@contextmanager
def cached_executable(kind: str, key: str) -> Iterator[tuple[Path, Path | None]]:
    """(its place in the cache, where to build it); the second is None when it is there.

    ``kind`` says what built it. Raises :class:`ValueError` where :data:`LIMIT` is no size.
    """
    folder = default_directory() / "executables"
    place = folder / kind / key
    limit_bytes = _limit_bytes()
    if _is_whole(place, key):
        mark_used(place)
        yield place, None
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".part-") as part:
        program = Path(part) / "program"
        yield place, program
        with program.open("ab") as file:  # behind all that an ELF file's header speaks of
            file.write(seal(key, program.read_bytes()))
        program.chmod(0o755)
        size = program.stat().st_size
        program.replace(place)
    if _additions.are_many(folder, size, limit_bytes):
        keep_used_last(folder, limit_bytes)


def _is_whole(place: Path, key: str) -> bool:
    """Whether the program is there as it was built; a damaged one is removed."""
    try:
        entry = place.read_bytes()
    except FileNotFoundError:
        return False
    try:
        content(key, entry)
    except DamagedEntry:
        if is_sealed(entry):
            warn(place)
        place.unlink(missing_ok=True)
        return False
    return True


def mark_used(path: Path) -> None:
    """Remember that an executable is wanted, for :func:`keep_used_last`."""
    with suppress(OSError):
        os.utime(path)


def keep_used_last(folder: Path, limit_bytes: int) -> None:
    """Remove the files in folders of ``folder`` that were used longest ago, beyond ``limit_bytes``.

    The one used last stays whatever its size: somebody is about to run it. What is under way (a
    name that begins with a point) is left alone.
    """
    entries: list[tuple[int, int, Path]] = []
    for path in folder.glob("*/*"):
        with suppress(FileNotFoundError):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and not path.name.startswith("."):
                entries.append((status.st_mtime_ns, status.st_size, path))
    total = 0
    for place, (_, size, path) in enumerate(sorted(entries, reverse=True)):
        total += size
        if place and total > limit_bytes:
            path.unlink(missing_ok=True)


class _Additions:
    """Bytes that this process added since it last looked what is there, by folder."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bytes: dict[Path, int] = {}

    def are_many(self, folder: Path, size: int, limit_bytes: int) -> bool:
        """Count ``size``; whether it is time to look."""
        with self._lock:
            added = self._bytes.get(folder, limit_bytes) + size
            many = added >= limit_bytes // _SWEEPS_PER_LIMIT
            self._bytes[folder] = 0 if many else added
            return many


_additions = _Additions()


def _limit_bytes() -> int:
    text = os.environ.get(LIMIT) or str(DEFAULT_LIMIT_MIB)
    if not text.isascii() or not text.isdigit() or int(text[:12]) == 0:
        raise ValueError(f"{LIMIT}={text}: give a number of MiB above 0")
    return int(text[:12]) << 20
