"""What a run has used and reached, over restarts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass
class RunProgress:
    """Sums over all steps and workers; they are in a checkpoint's notes, so a restart goes on."""

    skipped: int = 0
    """Steps whose gradients the guard had thrown away."""
    tokens: float = 0.0
    energy_kwh: float = 0.0
    held_out_loss: float | None = None
    """The last that was measured."""

    @classmethod
    def from_notes(cls, notes: Mapping[str, Any]) -> RunProgress:
        """Read it from the notes of a checkpoint. Raises ``KeyError`` for one that lacks them."""
        return cls(
            int(notes["skipped"]),
            float(notes["tokens"]),
            float(notes["energy_kwh"]),
            notes["held_out_loss"],
        )

    def notes(self, step: int, workers: int) -> dict[str, Any]:
        """Note for the checkpoint of ``step``; ``updates``: how often the optimizer has stepped."""
        return {
            "updates": step - self.skipped,
            "skipped": self.skipped,
            "tokens": self.tokens,
            "energy_kwh": self.energy_kwh,
            "held_out_loss": self.held_out_loss,
            "workers": workers,
        }
