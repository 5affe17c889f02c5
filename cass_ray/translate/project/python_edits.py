"""Places of Python's syntax tree in its text, and changes of the text at them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PythonEdit:
    """``text[start:end]`` becomes ``new``."""

    start: int
    end: int
    new: str

    def holds(self, other: PythonEdit) -> bool:
        """Whether ``other`` is about a part of this one's text."""
        return self != other and self.start <= other.start and other.end <= self.end

    @staticmethod
    def apply(edits: Sequence[PythonEdit], text: str) -> str:
        """``text`` with ``edits``; of one within another the outer one counts."""
        outer = {edit for edit in edits if not any(other.holds(edit) for other in edits)}
        for edit in sorted(outer, key=lambda item: item.start, reverse=True):
            text = text[: edit.start] + edit.new + text[edit.end :]
        return text


class PythonText:
    """The text of a tree, whose places count bytes of lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def quoted(self, item: ast.expr, new: str) -> str:
        """``new`` between the quotes of ``item``, a string."""
        quote = self.text[self.span(item)[1] - 1]
        return f"{quote}{new}{quote}"

    def span(self, node: ast.expr | ast.stmt | ast.alias) -> tuple[int, int]:
        """Where the text of ``node`` begins and ends."""
        last, behind = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._place(node.lineno, node.col_offset), self._place(last, behind)

    def _place(self, line: int, column: int) -> int:
        text = self._lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(text)
