"""Runs under changes as JSON, and those that are stored beside references from a GPU.

A GPU has no runs under changes. ``python -m benchmarks.execute.store_changes`` makes them of the
originals' lifted machine code. They hold as long as ``emulator/device/perturbation.cpp`` is the
same, which a test looks at.
"""

from __future__ import annotations

import base64
import functools
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cass_ray.emulator.perturbation import Perturbation
from cass_ray.emulator.transcript import Transcript, encode_transcript, parse_transcript
from cass_ray.execute.differential import PerturbedRun

CHANGES_FILE = "changes.json"


@dataclass(frozen=True)
class StoredChanges:
    """What a program prints under changes on one list of arguments, and what it moves without."""

    perturbed: tuple[PerturbedRun, ...]
    transcripts: tuple[Transcript, ...]


Key = tuple[str, tuple[str, ...]]
"""A program's id, and its arguments."""


def changes_to_json(changes: StoredChanges) -> dict[str, Any]:
    """``changes`` for :func:`changes_from_json`."""
    return {
        "perturbed": [
            {
                "perturbation": run.perturbation.option,
                "outputs": [_text(output) for output in run.outputs],
                "status": run.status,
                "moved": run.moved,
            }
            for run in changes.perturbed
        ],
        "transcripts": [_text(encode_transcript(each)) for each in changes.transcripts],
    }


def changes_from_json(values: Mapping[str, Any]) -> StoredChanges:
    """What :func:`changes_to_json` wrote, among other values."""
    perturbed = [
        PerturbedRun(
            Perturbation.parse(run["perturbation"]),
            tuple(_bytes(output) for output in run["outputs"]),
            run["status"],
            run["moved"],
        )
        for run in values["perturbed"]
    ]
    transcripts = [parse_transcript(_bytes(each)) for each in values["transcripts"]]
    return StoredChanges(tuple(perturbed), tuple(transcripts))


def without_data(transcript: Transcript) -> Transcript:
    """``transcript`` with digests alone."""
    movements = tuple(replace(each, data=None) for each in transcript.movements)
    return replace(transcript, movements=movements)


@functools.cache
def stored_changes(folder: Path) -> Mapping[Key, StoredChanges]:
    """The content of :data:`CHANGES_FILE` in ``folder``; nothing where it is not there."""
    path = folder / CHANGES_FILE
    if not path.exists():
        return {}
    document: dict[str, list[dict[str, Any]]] = json.loads(path.read_text("utf-8"))["programs"]
    return {
        (program, tuple(run["arguments"])): changes_from_json(run)
        for program, runs in document.items()
        for run in runs
    }


def _text(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _bytes(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))
