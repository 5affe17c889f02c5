"""Checkpoints at any fsspec URL: written in the background, checked when read, kept by policy.

A checkpoint is a folder ``step-00000120``: safetensors files with pieces of the fp32 weights and
moments (``KIND|PARAMETER|START``), written by every worker for what it holds, and ``manifest.json``
with their sizes and checksums, written last. A folder without a manifest does not count. Pieces
name their place in the parameter, so any engine on any number of workers reads them back.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]

from cass_ray.train.settings import CheckpointSettings
from cass_ray.whole_file import write_whole

WEIGHT = "weight"
_FORMAT = 1
MANIFEST = "manifest.json"
_STEP = re.compile(r"^step-(\d+)$")


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
        files = {name: list(value) for name, value in self.files.items()}
        return json.dumps(
            {"format": _FORMAT, "step": self.step, "files": files, "notes": self.notes}, indent=1
        )

    @classmethod
    def parse(cls, text: str) -> Manifest:
        """Read it from JSON. Raises ``ValueError`` or ``KeyError``."""
        data = json.loads(text)
        if data["format"] != _FORMAT:
            raise ValueError(f"format {data['format']}, this version reads {_FORMAT}")
        files = {name: (int(size), int(crc)) for name, (size, crc) in data["files"].items()}
        return cls(int(data["step"]), files, data["notes"])


class CheckpointStore:
    """The checkpoints at one fsspec URL; the folder is made where it is not there."""

    def __init__(self, url: str) -> None:
        # What other workers write is seen at once.
        self.files, self.root = fsspec.core.url_to_fs(url, use_listings_cache=False)
        self.files.makedirs(self.root, exist_ok=True)

    def write_whole(self, path: str, content: bytes) -> None:
        """Write a file that others see whole or not at all, as object stores do by themselves."""
        if "file" in self.files.protocol:
            write_whole(Path(path), content)
        else:
            self.files.pipe_file(path, content)

    def folder(self, step: int) -> str:
        """Where the checkpoint of ``step`` is."""
        return f"{self.root}/step-{step:08}"

    def steps(self) -> list[int]:
        """Steps of complete checkpoints, the newest first."""
        whole = [step for step in self._begun() if self.files.exists(self._manifest_path(step))]
        return sorted(whole, reverse=True)

    def manifest(self, step: int) -> Manifest:
        """The manifest of ``step``. Raises ``CheckpointError``."""
        path = self._manifest_path(step)
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
                actual = self.files.size(path)
                if actual != size:
                    return f"{name} has {actual} bytes, not {size}"
                with self.files.open(path, "rb") as stream:
                    if checksum(stream) != crc:
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
        if self.files.exists(self._manifest_path(step)):
            self.files.rm_file(self._manifest_path(step))
        # In storage a folder is gone with its last file.
        with suppress(FileNotFoundError):
            self.files.rm(self.folder(step), recursive=True)

    def remove_after(self, step: int | None) -> None:
        """Delete what lies after ``step`` and what was never completed.

        A run that goes on from ``step`` writes those again, and must not find the seals of workers
        that are gone.
        """
        complete = set(self.steps())
        for number in self._begun():
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
            step_losses = {step: loss for step, loss in losses.items() if loss is not None}
            if step_losses:
                keep.add(min(step_losses, key=lambda step: step_losses[step]))
        gone = [step for step in steps if step not in keep]
        for step in gone:
            self.remove(step)
        return gone

    def _begun(self) -> list[int]:
        """Steps of which there is something."""
        try:
            paths = self.files.ls(self.root, detail=False, refresh=True)
        except FileNotFoundError:  # in storage a folder is there when a file is in it
            return []
        names = (str(path).rstrip("/").rsplit("/", 1)[-1] for path in paths)
        return [int(match.group(1)) for name in names if (match := _STEP.match(name))]

    def _manifest_path(self, step: int) -> str:
        return f"{self.folder(step)}/{MANIFEST}"

    def _held_out_loss(self, step: int) -> float | None:
        try:
            loss: float | None = self.manifest(step).notes.get("held_out_loss")
        except CheckpointError:
            return None
        return loss


def checksum(stream: Any) -> int:
    """CRC-32 of what is left of a binary ``stream``."""
    crc = 0
    while block := stream.read(1 << 22):
        crc = zlib.crc32(block, crc)
    return crc
