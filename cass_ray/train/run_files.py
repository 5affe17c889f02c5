"""Where things are in the folder of a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RunFiles:
    """Paths in the folder ``out`` of a run."""

    out: Path

    @property
    def train(self) -> Path:
        """Tokenized examples to learn from."""
        return self.out / "tokens" / "train.arrow"

    @property
    def held_out(self) -> Path:
        """Tokenized examples to measure with."""
        return self.out / "tokens" / "held_out.arrow"

    @property
    def recipe_pairs(self) -> Path:
        """Pairs that a recipe draws from."""
        return self.out / "tokens" / "pairs.arrow"

    @property
    def recipe_held_out(self) -> Path:
        """Pairs that a recipe leaves out."""
        return self.out / "tokens" / "held_out_pairs.arrow"

    @property
    def data_record(self) -> Path:
        """What the tokens were made from, and how many examples were dropped for which reason."""
        return self.out / "tokens" / "data.json"

    @property
    def tokenizer(self) -> Path:
        """The tokenizer, in Hugging Face's form."""
        return self.out / "tokenizer"

    @property
    def model(self) -> Path:
        """The trained model, in Hugging Face's form."""
        return self.out / "model"

    @property
    def summary(self) -> Path:
        """How the run ended (:class:`cass_ray.train.trainer.TrainingSummary`), as JSON."""
        return self.out / "summary.json"

    @property
    def progress(self) -> Path:
        """What the first worker says, a line each."""
        return self.out / "progress.log"

    @property
    def events(self) -> Path:
        """Skipped and reported steps, a JSON object a line."""
        return self.out / "events.jsonl"

    def append_event(self, event: dict[str, Any]) -> None:
        with self.events.open("a") as stream:
            stream.write(json.dumps(event) + "\n")
