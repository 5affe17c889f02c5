"""The folder of a run on nodes that do not see each other's disks: tokens go out, results back.

What is shared is a *bundle* of files; it is there once its index is, which is written last.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cass_ray.storage.store import Store
from cass_ray.train.curves import METRICS
from cass_ray.train.run_files import RunFiles

_INDEX = "shared"
_TOKENS, _CURVES, _RESULTS = "tokens", "curves", "results"


class RunShare:
    """What is at ``url`` of the run whose folder on this node is ``out``."""

    def __init__(self, url: Path | str, out: Path) -> None:
        self._store = Store(url)
        self._out = out
        self._files = RunFiles(out)

    def offer(self) -> None:
        """Send the tokens and the tokenizer that this process has made."""
        self._send(_TOKENS, [self._files.data_record.parent, self._files.tokenizer])

    def fetch(self) -> None:
        """Have what :meth:`offer` sent, and the curves of an attempt that may have been elsewhere.

        One worker of a node does it, the others wait. Raises ``FileNotFoundError`` where nothing
        was offered.
        """
        self._out.mkdir(parents=True, exist_ok=True)
        with _alone(self._out):
            if not self._take(_TOKENS):
                raise FileNotFoundError(f"{self._store.url}: the tokens of this run are not there")
            self._take(_CURVES)

    def send_curves(self) -> None:
        """Send what was measured so far."""
        self._send(_CURVES, [self._out / METRICS, self._files.events])

    def deliver(self) -> None:
        """Send the model, the summary and the curves."""
        self.send_curves()
        self._send(_RESULTS, [self._files.model, self._files.summary])

    def collect(self) -> None:
        """Have what :meth:`deliver` sent, as far as there is any."""
        for bundle in (_CURVES, _RESULTS):
            self._take(bundle)

    def forget(self) -> None:
        """Take away that anything is there."""
        self._store.remove_all(_INDEX)

    def _send(self, bundle: str, places: Iterable[Path]) -> None:
        index = {}
        for path in _files(places):
            name = path.relative_to(self._out).as_posix()
            self._store.upload(name, path)
            index[name] = _digest(path)
        content = json.dumps(index).encode()
        self._store.put(_index(bundle), content)
        # Whoever sent it has it.
        (self._out / f".{bundle}.json").write_bytes(content)

    def _take(self, bundle: str) -> bool:
        try:
            content = self._store.read(_index(bundle))
        except FileNotFoundError:
            return False
        have = self._out / f".{bundle}.json"
        if not have.exists() or have.read_bytes() != content:
            for name in json.loads(content):
                self._store.download(name, self._out / name)
            have.write_bytes(content)
        return True


def _index(bundle: str) -> str:
    return f"{_INDEX}/{bundle}.json"


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_file():
            yield place
        else:
            yield from sorted(path for path in place.rglob("*") if path.is_file())


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
