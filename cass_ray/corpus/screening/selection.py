"""What of a data set is trained on: split by repository, weight by origin, length in tokens.

Written beside the data as ``selection.parquet``, one line a pair: the pairs do not change when a
mixture does.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from pydantic import Field, field_validator

from cass_ray.config import SettingsError, StrictModel
from cass_ray.dataset.row import (
    Origin,
    Reason,
    Stage,
    is_rejected,
    rejected,
)

SELECTION_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("level", pa.string()),
        ("split", pa.string()),
        ("origin", pa.string()),
        ("repository", pa.string()),
        ("copies", pa.int64()),
        ("source_tokens", pa.int64()),
        ("assembly_tokens", pa.int64()),
    ]
)
"""``level``: of the pair (``cass_ray.dataset.schema``). ``copies``: how often the pair is seen in
one epoch; 0 for validation. Token counts are of both sides together; null without a tokenizer, and
those of sources null where the AMD side is lifted."""

Row = dict[str, Any]
Count = Callable[[str], int]


class SelectionSettings(StrictModel):
    """Splits, mixture and lengths."""

    validation: float = Field(default=0.02, ge=0.0, lt=1.0)
    """Share of repositories held out; a program that has none, or is synthetic, counts as one."""
    weights: dict[Origin, float] = {}
    """Expected copies of a pair in an epoch by origin; 1 where nothing is said."""
    seed: int = 0
    tokenizer: Path | None = None
    """``tokenizer.json`` of the model, or the folder that holds it."""
    window: int | None = Field(default=None, ge=16)
    """Pairs with more tokens, both sides together, are rejected. Needs ``tokenizer``."""
    level: Literal["source", "assembly"] = "assembly"
    """What is measured against the window."""

    @field_validator("weights")
    @classmethod
    def _not_negative(cls, value: dict[Origin, float]) -> dict[Origin, float]:
        for origin, weight in value.items():
            if not 0 <= weight <= 100:
                raise ValueError(f"{origin.value}: a weight is between 0 and 100")
        return value


def load_tokenizer(path: Path) -> Count:
    """Counts tokens as the model's tokenizer does, special tokens left out.

    Raises :class:`~cass_ray.config.SettingsError` when it cannot be loaded.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise SettingsError(
            "selection.tokenizer needs the package tokenizers: pip install tokenizers"
        ) from None
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise SettingsError(f"selection.tokenizer: {file} is not there")
    tokenizer = Tokenizer.from_file(str(file))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def split_of(row: Mapping[str, Any], settings: SelectionSettings) -> str:
    """``train`` or ``validation``: the same for all programs of a repository, on every run.

    Synthetic programs have no authors in common: each is a group of its own.
    """
    alone = row.get("origin") == Origin.SYNTHETIC or not row.get("repository")
    group = row["id"] if alone else row["repository"]
    held_out = _unit_interval("split", str(settings.seed), group) < settings.validation
    return "validation" if held_out else "train"


def copies_of(row: Mapping[str, Any], settings: SelectionSettings) -> int:
    """Copies of a training pair in one epoch; a fraction is met over many pairs."""
    weight = settings.weights.get(Origin(row["origin"]), 1.0)
    whole = math.floor(weight)
    chance = _unit_interval("copies", str(settings.seed), row["id"])
    return whole + int(chance < weight - whole)


class Selection:
    """Measures pairs. Raises ``SettingsError`` where the tokenizer cannot be loaded."""

    def __init__(self, settings: SelectionSettings) -> None:
        if settings.window is not None and settings.tokenizer is None:
            raise SettingsError("selection.window: give selection.tokenizer to measure with")
        self._settings = settings
        self._count = load_tokenizer(settings.tokenizer) if settings.tokenizer else None

    def one(self, row: Row) -> tuple[Row, Row | None]:
        """``row``, rejected if it is beyond the window, and its line of :data:`SELECTION_SCHEMA`.

        A row that was rejected before has no line.
        """
        if is_rejected(row):
            return row, None
        tokens = {level: self._tokens(row, level) for level in ("source", "assembly")}
        measured, window = tokens[self._settings.level], self._settings.window
        if window is not None and measured is not None and measured > window:
            message = f"{measured} tokens of {self._settings.level}; the window has {window}"
            return rejected(row, Stage.SELECT, Reason.OVER_TOKEN_LIMIT, message), None
        split = split_of(row, self._settings)
        return row, {
            "id": row["id"],
            "level": row.get("level"),
            "split": split,
            "origin": row["origin"],
            "repository": row["repository"],
            "copies": copies_of(row, self._settings) if split == "train" else 0,
            "source_tokens": tokens["source"],
            "assembly_tokens": tokens["assembly"],
        }

    def _tokens(self, row: Row, level: str) -> int | None:
        if self._count is None or (level == "source" and row.get("lifted_side")):
            return None
        columns = (
            ("cuda_source", "hip_source", "opencl_source")
            if level == "source"
            else ("cuda_device", "hip_device")
        )
        return sum(self._count(row.get(column) or "") for column in columns)


def _unit_interval(*parts: str) -> float:
    """A number in [0, 1) that depends on ``parts`` alone."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
    return float(int.from_bytes(digest[:8], "big") / 2**64)
