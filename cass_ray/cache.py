"""A content-addressed cache of results on local disk.

Keys are digests of everything that determines a result (source tree, tool versions, flags), so an
entry never goes stale; it only becomes unused. Writes are atomic: concurrent actors of one node
share a directory, and a reader sees a whole entry or none.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import platformdirs

from cass_ray.checked_entry import DamagedEntry, is_sealed, opened, sealed, warn


def default_directory() -> Path:
    """``$CASS_CACHE``, else the user's cache directory for cass-ray."""
    return Path(os.environ.get("CASS_CACHE") or platformdirs.user_cache_dir("cass-ray"))


def results_directory() -> Path:
    """Where compiler results are kept: ``$CASS_RESULTS``, else below the default directory."""
    return Path(os.environ.get("CASS_RESULTS") or default_directory() / "results")


def digest(parts: Iterable[str | bytes]) -> str:
    """SHA-256 (hex) of ``parts``, each prefixed with its length so that no two lists collide."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


class ContentCache:
    """Bytes by digest under ``directory`` (created on first write), compressed, with checksums."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / key

    def get(self, key: str) -> bytes | None:
        """The entry, or None. One that is not what was stored under ``key`` counts as absent: it is
        removed, with a warning unless an older version wrote it, without a checksum."""
        path = self._path(key)
        try:
            entry = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            return opened(key, entry)
        except DamagedEntry:
            if is_sealed(entry):
                warn(path)
            path.unlink(missing_ok=True)
            return None

    def remove(self, key: str) -> None:
        self._path(key).unlink(missing_ok=True)

    def put(self, key: str, value: bytes) -> None:
        """Store ``value``; an existing entry is left as it is."""
        path = self._path(key)
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".part-", delete=False) as part:
            part.write(sealed(key, value))
        Path(part.name).replace(path)
