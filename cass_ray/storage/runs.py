"""Results of runs at one URL: a folder each, and the newest are kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from cass_ray.storage.store import Store

_INDEX = "index"


def run_name(now: datetime | None = None) -> str:
    """Names sort as runs ended."""
    return (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y%m%dT%H%M%S.%fZ")


def keep_run(store: Store, folder: Path, name: str, keep: int) -> list[str]:
    """Write the files below ``folder`` to ``name`` in ``store``; hidden ones stay here.

    A run counts once its line is in ``index``, which is written last. All but the newest ``keep``
    are deleted, their names returned.
    """
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not _is_hidden(path.relative_to(folder))
    )
    names = [path.relative_to(folder).as_posix() for path in paths]
    for path, each in zip(paths, names, strict=True):
        store.upload(f"{name}/{each}", path)
    store.put(f"{_INDEX}/{name}.json", json.dumps({"files": names}).encode())
    gone = kept_runs(store)[:-keep]
    for each in gone:
        # What has no line does not count: a run is there whole or not at all.
        store.remove(f"{_INDEX}/{each}.json")
        store.remove_all(each)
    return gone


def kept_runs(store: Store) -> list[str]:
    """Names of whole runs, the oldest first."""
    return [name.removesuffix(".json") for name in store.names(_INDEX)]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
