"""Tokenized examples on disk: an Arrow file that every worker maps into memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

EXAMPLE_SCHEMA = pa.schema(
    [
        ("pair", pa.string()),
        ("task", pa.string()),
        ("tokens", pa.list_(pa.int32())),
        ("answer_start", pa.int32()),
        ("weight", pa.float64()),
        ("held_out", pa.bool_()),
        ("dropped", pa.string()),
    ]
)
"""One example; ``dropped`` says why it is not used (empty: it is), and then it has no tokens."""

_ROWS_PER_BATCH = 512


@dataclass(frozen=True, slots=True)
class TokenizedExample:
    """Token ids; those from ``answer_start`` on are the answer."""

    pair: str
    task: str
    tokens: npt.NDArray[np.int32]
    answer_start: int


def write_examples(rows: Iterable[dict[str, Any]], path: Path) -> int:
    """Write ``rows`` in the order of pair and task; returns how many."""
    ordered = sorted(rows, key=lambda row: (row["pair"], row["task"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with pa.OSFile(str(part), "wb") as sink, pa.ipc.new_file(sink, EXAMPLE_SCHEMA) as writer:
        for start in range(0, len(ordered), _ROWS_PER_BATCH):
            chunk = ordered[start : start + _ROWS_PER_BATCH]
            writer.write_batch(pa.RecordBatch.from_pylist(chunk, schema=EXAMPLE_SCHEMA))
    part.replace(path)
    return len(ordered)


class TokenStore:
    """The examples of one file, by number."""

    def __init__(self, path: Path) -> None:
        """Map ``path``. Raises ``FileNotFoundError`` or ``pyarrow.ArrowInvalid``."""
        self._reader = pa.ipc.open_file(pa.memory_map(str(path), "r"))
        self._batches = [
            self._reader.get_batch(number) for number in range(self._reader.num_record_batches)
        ]
        counts = [batch.num_rows for batch in self._batches]
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.lengths: npt.NDArray[np.int64] = self._gather(
            [batch.column("tokens").value_lengths().to_numpy() for batch in self._batches], np.int64
        )
        starts = [batch.column("answer_start").to_numpy() for batch in self._batches]
        self.answer_lengths = self.lengths - self._gather(starts, np.int64)
        self.weights: npt.NDArray[np.float64] = self._gather(
            [batch.column("weight").to_numpy() for batch in self._batches], np.float64
        )

    @staticmethod
    def _gather(parts: list[npt.NDArray[Any]], kind: type[np.generic]) -> npt.NDArray[Any]:
        return np.concatenate(parts).astype(kind) if parts else np.zeros(0, dtype=kind)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, number: int) -> TokenizedExample:
        if not 0 <= number < len(self):
            raise IndexError(number)
        which = int(np.searchsorted(self._starts, number, side="right")) - 1
        batch, row = self._batches[which], number - int(self._starts[which])
        return TokenizedExample(
            pair=batch.column("pair")[row].as_py(),
            task=batch.column("task")[row].as_py(),
            tokens=batch.column("tokens")[row].values.to_numpy(),
            answer_start=batch.column("answer_start")[row].as_py(),
        )
