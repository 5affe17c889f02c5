"""Answers that were given before, in memory, the longest unused forgotten first."""

from __future__ import annotations

from collections import OrderedDict

from cass_ray.api.schema import TranslateRequest, TranslateResponse, Verification
from cass_ray.cache import digest


def answer_key(request: TranslateRequest, version: str) -> str:
    """Everything that an answer depends on beside the checker's toolchain, which lives as long."""
    return digest([request.model_dump_json(exclude={"stream"}), version])


_FINDING_BYTES = 1024
"""A finding as an object, beside its text: a small program can have ten thousand."""


class AnswerCache:
    """Bounded by the bytes of what it holds. An answer that failed its check is not kept: it may
    have been the machine's fault.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._held = 0
        self._answers: OrderedDict[str, tuple[TranslateResponse, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: str) -> TranslateResponse | None:
        entry = self._answers.get(key)
        if entry is None:
            return None
        self._answers.move_to_end(key)
        return entry[0]

    def put(self, key: str, answer: TranslateResponse) -> None:
        """Keep ``answer`` unless it failed its check; forgets the longest unused."""
        if answer.verdict.verification is Verification.FAILED or key in self._answers:
            return
        size = len(answer.model_dump_json()) + _FINDING_BYTES * len(answer.findings)
        if size > self._capacity:
            return
        self._answers[key] = (answer, size)
        self._held += size
        while self._held > self._capacity:
            _, (_, freed) = self._answers.popitem(last=False)
            self._held -= freed
