"""What has been asked and what came back: append-only, so that no prompt is asked twice.

Two files of JSON lines. A question is in ``asked.jsonl`` before it is sent and its answer in
``answers.jsonl`` before it is used. A run that was killed leaves at most one torn last line in
each; questions under way at that moment are asked and unanswered, and are reported as lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from cass_ray.llm.client import Reply


class Ledger:
    """Questions by key. One writer; close it, or use it as a context."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._asked: set[str] = set()
        for row in _read(folder / "asked.jsonl"):
            (self._asked.discard if row.get("withdrawn") else self._asked.add)(row["key"])
        rows = _read(folder / "answers.jsonl")
        self._answers = {row.pop("key"): row for row in rows}
        self._asked_file = _open(folder / "asked.jsonl")
        self._answer_file = _open(folder / "answers.jsonl")

    def answer(self, key: str) -> Reply | None:
        """What came back for a question; None where nothing has."""
        row = self._answers.get(key)
        return Reply(**row) if row is not None else None

    def lost(self, key: str) -> bool:
        """Whether a question was sent by a run that ended before the answer came."""
        return key in self._asked and key not in self._answers

    def ask(self, key: str) -> None:
        """Note a question that is about to be sent."""
        self._asked.add(key)
        _append(self._asked_file, {"key": key})

    def withdraw(self, key: str) -> None:
        """Note that a question failed for good: the endpoint gave no answer."""
        if key in self._asked:
            self._asked.discard(key)
            _append(self._asked_file, {"key": key, "withdrawn": True})

    def record(self, key: str, reply: Reply) -> None:
        """Note an answer, durably."""
        row = asdict(reply)
        self._answers[key] = row
        _append(self._answer_file, {"key": key, **row})
        os.fsync(self._answer_file.fileno())

    def close(self) -> None:
        self._asked_file.close()
        self._answer_file.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read(path: Path) -> list[dict[str, Any]]:
    return list(_rows(path)) if path.exists() else []


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue  # Torn by a kill.
        if isinstance(row, dict):
            yield row


def _open(path: Path) -> IO[str]:
    """For appending, behind a line end: a torn line must not swallow the next one."""
    torn = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    handle = path.open("a", encoding="utf-8")
    if torn:
        handle.write("\n")
    return handle


def _append(handle: IO[str], row: dict[str, Any]) -> None:
    handle.write(json.dumps(row) + "\n")
    handle.flush()
