"""The data set that a build writes: one writer at a time, and never half of it in place of another.

In a folder of this machine the parts are written beside the old ones and take their place at the
end. Storage has no such step: there a data set is whole when its ``report.json`` is there, which is
taken away first and written last.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from cass_ray.cache import default_directory, digest
from cass_ray.storage.store import Store

WORK = ".work"
REPORT = "report.json"
CARD = "README.md"
KINDS = ("pairs", "rejects")
_FRESH = ".fresh"
_HOLDER = ".building.json"


class OutputBusy(RuntimeError):
    """Another build writes to the same place."""


class OutputOccupied(RuntimeError):
    """The place holds something that this build may not replace."""


class Output(Protocol):
    """Where a data set goes."""

    @property
    def store(self) -> Store:
        """All of it; work is below :data:`WORK`."""
        ...

    @property
    def scratch(self) -> Path:
        """A folder of this machine for what sources fetch."""
        ...

    @property
    def parts(self) -> str:
        """Folder of the store in which :data:`KINDS` are to be written."""
        ...

    @contextmanager
    def held(self, resume: bool) -> Iterator[None]:
        """Keep other builds away. Raises :class:`OutputBusy`."""
        ...

    @contextmanager
    def replaced(self, names: Collection[str]) -> Iterator[None]:
        """While it is held open parts are written, ``names`` of them (``pairs/part-00000.parquet``)
        in the end; they then take the place of others."""
        ...


def output_at(location: Path | str) -> Output:
    """The output at a path or URL. Raises ``StorageError`` for a URL that cannot be used."""
    return FolderOutput(location) if isinstance(location, Path) else StorageOutput(location)


_IRRELEVANT = frozenset({"out", "slots", "rows_per_block"})
"""Settings on which the content of a data set does not depend."""


def check_free(store: Store, settings: dict[str, Any]) -> None:
    """See that a build with ``settings`` (as JSON) may write to ``store``.

    It may replace what it wrote itself with the same settings, and what a killed build left.

    Raises:
        OutputOccupied: another data set is there, or files that no build wrote.
    """
    present = [name for name in (REPORT, CARD, *KINDS) if store.exists(name)]
    if not present:
        return
    former = _settings_of(store)
    if former is None and not store.exists(WORK):
        raise OutputOccupied(
            f"{store.url} holds {present[0]}, which no build wrote: "
            "choose another --out, or --overwrite"
        )
    if former is None:
        return
    names = sorted((former.keys() | settings.keys()) - _IRRELEVANT)
    changed = [name for name in names if former.get(name) != settings.get(name)]
    if changed:
        raise OutputOccupied(
            f"{store.url} holds a data set that was built with other settings "
            f"({', '.join(changed)}): choose another --out, or --overwrite"
        )


def _settings_of(store: Store) -> dict[str, Any] | None:
    """The settings of the finished data set in ``store``; None where there is none."""
    if not store.exists(REPORT):
        return None
    try:
        report = json.loads(store.read(REPORT))
    except ValueError:
        return None
    settings = report.get("settings") if isinstance(report, dict) else None
    return settings if isinstance(settings, dict) and "cass_ray" in report else None


class FolderOutput:
    """A folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.store = Store(folder)
        self.scratch = folder / WORK / "sources"
        self.parts = _FRESH

    @contextmanager
    def held(self, resume: bool) -> Iterator[None]:
        """As :meth:`Output.held`; the kernel lets go if we die.

        The folder, made where there is none, is itself locked, so that nothing of it is in the data
        set.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputBusy(
                    f"another build writes to {self._folder}: wait for it, or choose another --out"
                ) from None
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def replaced(self, names: Collection[str]) -> Iterator[None]:
        """As :meth:`Output.replaced`; after an error the old ones stay."""
        fresh = self._folder / _FRESH
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            yield
            for kind in KINDS:
                shutil.rmtree(self._folder / kind, ignore_errors=True)
                (fresh / kind).rename(self._folder / kind)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


class StorageOutput:
    """A URL of storage that all nodes reach."""

    def __init__(self, url: str) -> None:
        self.store = Store(url)
        self.scratch = default_directory() / "sources" / digest([url])[:12]
        self.parts = ""

    @contextmanager
    def held(self, resume: bool) -> Iterator[None]:
        """As :meth:`Output.held`. A build that died stays noted: whoever resumes takes over. Should
        the other live after all, both commit the same results."""
        own = {
            "writer": uuid.uuid4().hex,
            "host": socket.gethostname(),
            "process": os.getpid(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        content = json.dumps(own).encode()
        if resume:
            self.store.put(_HOLDER, content)
        elif (held := self.store.create(_HOLDER, content)) != content:
            other = json.loads(held)
            raise OutputBusy(
                f"{self.store.url}: process {other['process']} on {other['host']} has been "
                f"building here since {other['since']}: wait for it, go on with its work by "
                "--resume if it has died, or choose another --out"
            )
        try:
            yield
        finally:
            self.store.remove(_HOLDER)

    @contextmanager
    def replaced(self, names: Collection[str]) -> Iterator[None]:
        """As :meth:`Output.replaced`; after an error there is no data set until a resumed build has
        written it."""
        self.store.remove(REPORT)
        yield
        for kind in KINDS:
            for name in self.store.names(kind):
                if f"{kind}/{name}" not in names:
                    self.store.remove(f"{kind}/{name}")
