"""Edits of a text, collected by several rules and applied at once."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

_MOST_UNSORTED = 100


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace ``[start, end)`` by ``text``; an insertion when both are equal."""

    start: int
    end: int
    text: str


class Edits:
    """Edits in offsets of the original text.

    An edit inside the span of a larger one is dropped: whoever rewrites a whole construct speaks
    for its parts. Insertions at one offset keep the order in which they were made.
    """

    def __init__(self) -> None:
        self._edits: list[Edit] = []
        self._by_start: list[tuple[int, int]] = []
        """Start and index of the edits up to some time, sorted; the others are few."""

    def __len__(self) -> int:
        return len(self._edits)

    def replace(self, start: int, end: int, text: str) -> None:
        """Replace ``[start, end)`` by ``text``."""
        self._edits.append(Edit(start, end, text))

    def insert(self, offset: int, text: str) -> None:
        """Insert ``text`` before ``offset``."""
        self.replace(offset, offset, text)

    def within(self, text: str, start: int, end: int) -> str:
        """``text[start:end]`` with the edits made so far inside it: for rules that move code."""
        if len(self._edits) - len(self._by_start) > _MOST_UNSORTED:
            rest = range(len(self._by_start), len(self._edits))
            self._by_start += [(self._edits[number].start, number) for number in rest]
            self._by_start.sort()
        first = bisect_left(self._by_start, (start, 0))
        last = bisect_left(self._by_start, (end + 1, 0))
        # In the order in which they were made, which is what insertions at one offset keep.
        numbers = sorted(number for _, number in self._by_start[first:last])
        edits = [self._edits[number] for number in numbers]
        edits += [edit for edit in self._edits[len(self._by_start) :] if start <= edit.start <= end]
        return _apply(text, [edit for edit in edits if edit.end <= end], start, end)

    def apply(self, text: str) -> str:
        return _apply(text, self._edits, 0, len(text))


def _apply(text: str, edits: list[Edit], start: int, end: int) -> str:
    pieces: list[str] = []
    done = start
    # Stable by start; at one start insertions come before replacements, and the larger of two
    # replacements first.
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.start != edit.end, -edit.end)):
        if edit.start < done:
            continue
        pieces += (text[done : edit.start], edit.text)
        done = max(done, edit.end)
    pieces.append(text[done:end])
    return "".join(pieces)
