"""Reads pieces of parameters from a checkpoint, whoever wrote them."""

from __future__ import annotations

import shutil
import tempfile
from typing import Any

import torch
from safetensors import safe_open

from cass_ray.temporary import temporary_prefix
from cass_ray.train.checkpoint.store import CheckpointError, CheckpointStore


class CheckpointReader:
    """Reads pieces of parameters from a checkpoint, whoever wrote them."""

    def __init__(self, store: CheckpointStore, step: int) -> None:
        """Open the checkpoint of ``step``. Raises ``CheckpointError``."""
        self.manifest = store.manifest(step)
        self._folder = tempfile.mkdtemp(prefix=temporary_prefix("resume"))
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
        """Forget the files, and remove the copies of remote ones."""
        self._open.clear()
        shutil.rmtree(self._folder, ignore_errors=True)
