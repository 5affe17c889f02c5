"""Checkpoints at any fsspec URL: written in the background, checked when read, kept by policy.

A checkpoint is a folder ``step-00000120``: safetensors files with pieces of the fp32 weights and
moments (``KIND|PARAMETER|START``), written by every worker for what it holds, and ``manifest.json``
with their sizes and checksums, written last. A folder without a manifest does not count. Pieces
name their place in the parameter, so any engine on any number of workers reads them back.
"""

from __future__ import annotations

import json
import queue
import re
import shutil
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from cass_ray.train.settings import CheckpointSettings

WEIGHT = "weight"
_FORMAT = 1
_MANIFEST = "manifest.json"
_STEP = re.compile(r"^step-(\d+)$")
_PIECE_BYTES = 2 << 30
_STAGED_PIECES = 4
"""At most so many pieces wait in host memory; then the training loop waits for the writer."""


class CheckpointError(RuntimeError):
    """A checkpoint cannot be written or read; the message names it and what is wrong."""


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint is: the step it was taken after, its files and what was measured."""

    step: int
    files: dict[str, tuple[int, int]]
    """Name -> (bytes, CRC-32)."""
    notes: dict[str, Any] = field(default_factory=dict)

    def dump(self) -> str:
        """As JSON."""
        files = {name: list(value) for name, value in self.files.items()}
        return json.dumps(
            {"format": _FORMAT, "step": self.step, "files": files, "notes": self.notes}, indent=1
        )

    @classmethod
    def parse(cls, text: str) -> Manifest:
        """From JSON. Raises ``ValueError`` or ``KeyError``."""
        data = json.loads(text)
        if data["format"] != _FORMAT:
            raise ValueError(f"format {data['format']}, this version reads {_FORMAT}")
        files = {name: (int(size), int(crc)) for name, (size, crc) in data["files"].items()}
        return cls(int(data["step"]), files, data["notes"])


class CheckpointStore:
    """The checkpoints at one URL."""

    def __init__(self, url: str) -> None:
        self.files, self.root = fsspec.core.url_to_fs(url)
        self.files.makedirs(self.root, exist_ok=True)

    def folder(self, step: int) -> str:
        """Where the checkpoint of ``step`` is."""
        return f"{self.root}/step-{step:08}"

    def steps(self) -> list[int]:
        """Steps of complete checkpoints, the newest first."""
        found = []
        for path in self.files.ls(self.root, detail=False, refresh=True):
            match = _STEP.match(str(path).rstrip("/").rsplit("/", 1)[-1])
            if match and self.files.exists(f"{path}/{_MANIFEST}"):
                found.append(int(match.group(1)))
        return sorted(found, reverse=True)

    def manifest(self, step: int) -> Manifest:
        """The manifest of ``step``. Raises ``CheckpointError``."""
        path = f"{self.folder(step)}/{_MANIFEST}"
        try:
            return Manifest.parse(self.files.cat_file(path).decode())
        except (OSError, ValueError, KeyError) as error:
            raise CheckpointError(f"{path}: {error}") from None

    def problem(self, step: int) -> str:
        """What is wrong with the checkpoint of ``step``: the empty string for nothing."""
        try:
            manifest = self.manifest(step)
            for name, (size, crc) in manifest.files.items():
                path = f"{self.folder(step)}/{name}"
                if not self.files.exists(path):
                    return f"{name} is missing"
                found = self.files.size(path)
                if found != size:
                    return f"{name} has {found} bytes, not {size}"
                with self.files.open(path, "rb") as stream:
                    if _checksum(stream) != crc:
                        return f"the checksum of {name} differs"
        except (OSError, CheckpointError) as error:
            return str(error)
        return ""

    def latest(self, say: Callable[[str], None]) -> int | None:
        """The newest checkpoint that is whole; ``say`` hears of those that are not."""
        for step in self.steps():
            problem = self.problem(step)
            if not problem:
                return step
            say(f"checkpoint of step {step} is corrupt ({problem}): using the one before it")
        return None

    def remove(self, step: int) -> None:
        """Delete a checkpoint, its manifest first."""
        folder = self.folder(step)
        if self.files.exists(f"{folder}/{_MANIFEST}"):
            self.files.rm_file(f"{folder}/{_MANIFEST}")
        self.files.rm(folder, recursive=True)

    def remove_after(self, step: int | None) -> None:
        """Delete what lies after ``step`` and what was never completed.

        A run that goes on from ``step`` writes those again, and must not find the seals of workers
        that are gone.
        """
        complete = set(self.steps())
        for path in self.files.ls(self.root, detail=False, refresh=True):
            match = _STEP.match(str(path).rstrip("/").rsplit("/", 1)[-1])
            if match is None:
                continue
            number = int(match.group(1))
            if number not in complete or step is None or number > step:
                self.remove(number)

    def prune(self, policy: CheckpointSettings) -> list[int]:
        """Delete what ``policy`` does not keep; returns the steps deleted."""
        steps = self.steps()
        keep = set(steps[: policy.keep])
        if policy.keep_every is not None:
            keep |= {step for step in steps if step % policy.keep_every == 0}
        if policy.keep_best:
            losses = {step: self._held_out_loss(step) for step in steps}
            known = {step: loss for step, loss in losses.items() if loss is not None}
            if known:
                keep.add(min(known, key=lambda step: known[step]))
        gone = [step for step in steps if step not in keep]
        for step in gone:
            self.remove(step)
        return gone

    def _held_out_loss(self, step: int) -> float | None:
        try:
            loss: float | None = self.manifest(step).notes.get("held_out_loss")
        except CheckpointError:
            return None
        return loss


def _checksum(stream: Any) -> int:
    crc = 0
    while block := stream.read(1 << 22):
        crc = zlib.crc32(block, crc)
    return crc


Tensors = Iterable[tuple[str, torch.Tensor]]


class CheckpointWriter:
    """Writes one worker's part of checkpoints from a thread of its own.

    :meth:`start` copies tensors to host memory and returns; :meth:`commit` (first worker only)
    completes checkpoints whose parts are all there; :meth:`finish` waits for the thread.
    """

    def __init__(self, store: CheckpointStore, rank: int, workers: int) -> None:
        self._store = store
        self._rank = rank
        self._workers = workers
        self._queue: queue.Queue[Callable[[], None] | None] = queue.Queue(_STAGED_PIECES)
        self._open: dict[int, dict[str, Any]] = {}
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="checkpoints", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            try:
                if self._error is None:
                    job()
            except BaseException as error:  # told to the training loop, which raises it
                self._error = error
            finally:
                self._queue.task_done()
        self._queue.task_done()

    def _check(self) -> None:
        if self._error is not None:
            raise CheckpointError(f"writing a checkpoint failed: {self._error}") from self._error

    def start(self, step: int, tensors: Tensors, notes: dict[str, Any]) -> None:
        """Begin the checkpoint of ``step``; raises ``CheckpointError`` of an earlier one."""
        self._check()
        self._store.files.makedirs(self._store.folder(step), exist_ok=True)
        written: dict[str, tuple[int, int]] = {}
        for number, piece in enumerate(_pieces(tensors)):
            name = f"part-{self._rank:05}-{number:05}.safetensors"
            self._queue.put(partial(self._save, step, name, piece, written))
        self._queue.put(partial(self._seal, step, written))
        self._open[step] = notes

    def _save(
        self,
        step: int,
        name: str,
        piece: dict[str, torch.Tensor],
        written: dict[str, tuple[int, int]],
    ) -> None:
        with tempfile.TemporaryDirectory(prefix="cass-checkpoint-") as folder:
            path = Path(folder) / name
            save_file(piece, path)
            with path.open("rb") as stream:
                crc = _checksum(stream)
            size = path.stat().st_size
            self._store.files.put_file(str(path), f"{self._store.folder(step)}/{name}")
        written[name] = size, crc

    def _seal(self, step: int, written: dict[str, tuple[int, int]]) -> None:
        path = f"{self._store.folder(step)}/done-{self._rank:05}-of-{self._workers:05}.json"
        self._store.files.pipe_file(path, json.dumps(written).encode())

    def commit(self) -> list[int]:
        """Complete the checkpoints that every worker has written; returns their steps."""
        self._check()
        done = []
        for step, notes in list(self._open.items()):
            folder = self._store.folder(step)
            seals = [
                f"{folder}/done-{rank:05}-of-{self._workers:05}.json"
                for rank in range(self._workers)
            ]
            if not all(self._store.files.exists(path) for path in seals):
                continue
            files: dict[str, tuple[int, int]] = {}
            for path in seals:
                files |= {
                    n: tuple(v) for n, v in json.loads(self._store.files.cat_file(path)).items()
                }
            manifest = Manifest(step, files, notes)
            self._store.files.pipe_file(f"{folder}/{_MANIFEST}", manifest.dump().encode())
            del self._open[step]
            done.append(step)
        return done

    def finish(self) -> None:
        """Wait until everything is written. Raises ``CheckpointError``."""
        self._queue.put(None)
        self._thread.join()
        self._check()


def _pieces(tensors: Tensors) -> Iterator[dict[str, torch.Tensor]]:
    """Groups of tensors, copied to the host, of about ``_PIECE_BYTES`` each."""
    piece: dict[str, torch.Tensor] = {}
    size = 0
    for key, tensor in tensors:
        piece[key] = tensor.detach().to("cpu", copy=True).contiguous()
        size += piece[key].nbytes
        if size >= _PIECE_BYTES:
            yield piece
            piece, size = {}, 0
    if piece:
        yield piece


class CheckpointReader:
    """Reads pieces of parameters from a checkpoint, whoever wrote them."""

    def __init__(self, store: CheckpointStore, step: int) -> None:
        """Open the checkpoint of ``step``. Raises ``CheckpointError``."""
        self.manifest = store.manifest(step)
        self._folder = tempfile.mkdtemp(prefix="cass-resume-")
        self._index: dict[tuple[str, str], list[tuple[int, int, str, str]]] = {}
        self._open: dict[str, Any] = {}
        for name in self.manifest.files:
            if "file" in store.files.protocol:
                path = f"{store.folder(step)}/{name}"
            else:
                path = f"{self._folder}/{name}"
                store.files.get_file(f"{store.folder(step)}/{name}", path)
            self._open[path] = safe_open(path, framework="pt")
            for key in self._open[path].keys():  # noqa: SIM118 - not a mapping
                kind, parameter, start = key.split("|")
                length = self._open[path].get_slice(key).get_shape()[0]
                self._index.setdefault((kind, parameter), []).append(
                    (int(start), length, path, key)
                )

    def read(self, kind: str, parameter: str, start: int, size: int) -> torch.Tensor:
        """Elements ``start`` to ``start + size`` (flat, fp32). Raises ``CheckpointError``."""
        result = torch.empty(size, dtype=torch.float32)
        missing = size
        for first, length, path, key in self._index.get((kind, parameter), ()):
            low, high = max(first, start), min(first + length, start + size)
            if low < high:
                piece = self._open[path].get_slice(key)[low - first : high - first]
                result[low - start : high - start] = piece
                missing -= high - low
        if missing:
            raise CheckpointError(
                f"the checkpoint of step {self.manifest.step} lacks {missing} of {size} elements "
                f"of {kind} of {parameter}: it is of another model"
            )
        return result

    def has(self, kind: str, parameter: str) -> bool:
        """Whether anything of this is there."""
        return (kind, parameter) in self._index

    def close(self) -> None:
        """Remove local copies."""
        self._open.clear()
        shutil.rmtree(self._folder, ignore_errors=True)
