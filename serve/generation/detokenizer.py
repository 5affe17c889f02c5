"""Tokens to text as they come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

_REPLACEMENT = "\ufffd"


@dataclass
class Detokenizer:
    """Token ids to text as they come, in time linear in their number.

    The text of a token depends on its neighbors, so a window of the last tokens is decoded twice,
    without and with the new ones; what they add is the new text. Incomplete UTF-8 waits.
    """

    tokenizer: Any
    _ids: list[int] = field(default_factory=list)
    _start: int = 0
    _shown: int = 0

    def add(self, ids: list[int]) -> str:
        """The text that ``ids`` complete."""
        self._ids += ids
        before = self._decode(self._ids[self._start : self._shown])
        after = self._decode(self._ids[self._start :])
        if len(after) <= len(before) or after.endswith(_REPLACEMENT):
            return ""
        self._start, self._shown = self._shown, len(self._ids)
        return after[len(before) :]

    def rest(self) -> str:
        """Return the text that is left at the end, be its last character complete or not."""
        before = self._decode(self._ids[self._start : self._shown])
        return self._decode(self._ids[self._start :])[len(before) :]

    def _decode(self, ids: list[int]) -> str:
        text: str = self.tokenizer.decode(ids, skip_special_tokens=True)
        return text
