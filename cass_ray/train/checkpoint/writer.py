"""Writes checkpoints in the background: every worker its part, the first worker the manifest."""

from __future__ import annotations

import json
import queue
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from cass_ray.temporary import temporary_prefix
from cass_ray.train.checkpoint.store import (
    MANIFEST,
    CheckpointError,
    CheckpointStore,
    Manifest,
    checksum,
)

_PIECE_BYTES = 2 << 30
_STAGED_PIECES = 4
"""At most so many pieces wait in host memory; then the training loop waits for the writer."""

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
        with tempfile.TemporaryDirectory(prefix=temporary_prefix("checkpoint")) as folder:
            path = Path(folder) / name
            save_file(piece, path)
            with path.open("rb") as stream:
                crc = checksum(stream)
            size = path.stat().st_size
            self._store.files.put_file(str(path), f"{self._store.folder(step)}/{name}")
        written[name] = size, crc

    def _seal(self, step: int, written: dict[str, tuple[int, int]]) -> None:
        path = f"{self._store.folder(step)}/done-{self._rank:05}-of-{self._workers:05}.json"
        self._store.write_whole(path, json.dumps(written).encode())

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
            self._store.write_whole(f"{folder}/{MANIFEST}", manifest.dump().encode())
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
