"""Losses that are not finite, or that jump."""

from __future__ import annotations

import math
from collections import deque
from enum import StrEnum
from statistics import median

from cass_ray.train.settings import GuardSettings


class LossVerdict(StrEnum):
    """What is to be done with a step."""

    GO = "go"
    REPORT = "report"
    SKIP = "skip"
    STOP = "stop"


class TrainingDiverged(RuntimeError):
    """Training was stopped by the guard; the message has the step and the ids of its pairs."""


class LossGuard:
    """Judges the loss of each step before the optimizer uses its gradients."""

    def __init__(self, settings: GuardSettings) -> None:
        self._settings = settings
        self._recent: deque[float] = deque(maxlen=settings.recent)
        self._skipped = 0

    def judge(self, loss: float) -> tuple[LossVerdict, str]:
        """The verdict on a step of mean loss ``loss``, and why."""
        verdict, reason = self._judge(loss)
        self._skipped = self._skipped + 1 if verdict is LossVerdict.SKIP else 0
        if self._skipped > self._settings.max_skips:
            return LossVerdict.STOP, f"{reason}; {self._skipped} steps in a row were skipped"
        if verdict in (LossVerdict.GO, LossVerdict.REPORT) and math.isfinite(loss):
            self._recent.append(loss)
        return verdict, reason

    def _judge(self, loss: float) -> tuple[LossVerdict, str]:
        if not math.isfinite(loss):
            return LossVerdict(self._settings.not_finite), f"the loss is {loss}"
        if len(self._recent) == self._settings.recent:
            usual = median(self._recent)
            if loss > self._settings.factor * usual:
                reason = f"the loss {loss:.4f} is {loss / usual:.1f} times the recent {usual:.4f}"
                return LossVerdict(self._settings.spike), reason
        return LossVerdict.GO, ""
