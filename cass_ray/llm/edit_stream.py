"""The program that numbered edits make, shown while the answer is being written."""

from __future__ import annotations

from collections.abc import Sequence

from cass_ray.llm.translation_format import TranslationFormat


class EditStream:
    """Text of the translated program, as far as an answer's tokens settle it.

    Edits come in the order of their lines, so a mark settles all lines before it. An answer that
    goes back shows nothing more: what it makes is known at its end.
    """

    def __init__(self, form: TranslationFormat, lines: Sequence[str]) -> None:
        self._form = form
        self._lines = lines
        self._shown = 0
        """Lines of the question that are settled."""
        self._line: int | None = None
        """The line that is being edited."""
        self._edit: list[int] = []
        self._broken = False
        self._first = True

    def feed(self, tokens: Sequence[int]) -> str:
        """What ``tokens`` settle."""
        settled: list[str] = []
        for token in tokens:
            line = self._form.line_of(token)
            if line is None:
                self._edit.append(token)
            elif line < self._shown or line == self._line or line >= len(self._lines):
                self._broken = True
            else:
                settled += self._close()
                settled += self._lines[self._shown : line]
                self._shown, self._line, self._edit = line, line, []
        return "" if self._broken else self._text(settled)

    def rest(self) -> str:
        """What the end of the answer settles."""
        settled = self._close()
        settled += self._lines[self._shown :]
        self._shown = len(self._lines)
        return "" if self._broken else self._text(settled)

    def _close(self) -> list[str]:
        if self._line is None:
            return []
        new = self._form.edited_lines(self._edit)
        self._shown, self._line = self._line + 1, None
        return list(new)

    def _text(self, lines: Sequence[str]) -> str:
        if not lines:
            return ""
        before = "" if self._first else "\n"
        self._first = False
        return before + "\n".join(lines)
