"""C++/CUDA source text, seen as code: comments and literals blanked, positions kept.

The rules look at ``SourceText.code``, a copy of the text of the same length in which comments and
the contents of string and character literals are spaces. What is found there is code, and its
offsets are offsets into the text: nothing inside strings or comments can ever be edited.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate, islice

_OPAQUE = re.compile(
    r"//[^\n\\]*(?:\\(?:\r\n|.)[^\n\\]*)*"  # a line comment, with its continuation lines
    r"|/\*.*?(?:\*/|(?P<open_comment>\Z))"
    # a raw string, seen from its quote
    r'|(?:(?<=(?<!\w)R)|(?<=(?<!\w)[uUL]R)|(?<=(?<!\w)u8R))"(?P<delimiter>[^()\\\s"]{0,16})\('
    r'.*?(?:\)(?P=delimiter)"|(?P<open_string>\Z))'
    r'|"(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\\?\Z)'
    r"|'(?:[^'\\\n]|\\.)*+(?:'|(?=\n)|\\?\Z)",
    re.DOTALL,
)
"""Takes time linear in the text: what begins at a quote or a comment always ends, at the latest
with the text, and is never read twice."""
_PP_NUMBER = re.compile(r"(?<![\w'])\.?\d(?:'?\w|\.)*'\Z")
_SYSTEM_INCLUDE = re.compile(
    r"(^[ \t]*#[ \t]*include[ \t]*<|\b__has_include(?:_next)?[ \t]*\([ \t]*<)([^>\n]*)",
    re.MULTILINE,
)
_LINE_END = re.compile(r"(?<!\\)(?<!\\\r)\n")
_NOT_NEWLINE = re.compile(r"[^\n]")
_OPEN = {"(": ")", "[": "]", "{": "}"}
_BRACKET = re.compile(r"([()\[\]{}])")
_ARGUMENT_MARK = re.compile(r"[()\[\]{},]")
_WORD_CHARACTER = re.compile(r"\w")
_WHOLE_ARGUMENTS = re.compile(r"<[\w\s,:.*+-]{1,300}>\s*[,)]")
"""Behind a blank: of a comparison an operand would follow."""
_ANGLE = re.compile(r"->|<<+|>>+|[<>]=|[<>]")

_DEEPEST = 256
"""Brackets inside one another, clang's own limit. Each rule may read a call with all that is inside
it: without a bound a text of nested calls is read once for each of them."""

Span = tuple[int, int]

_BYTE_ORDER_MARK = "\ufeff"


def split_mark(text: str) -> tuple[str, str]:
    """The byte order mark that ``text`` begins with, or nothing, and the rest.

    What is inserted at the top goes behind it: elsewhere it is an error for compilers.
    """
    rest = text.removeprefix(_BYTE_ORDER_MARK)
    return text[: len(text) - len(rest)], rest


def blank(text: str) -> str:
    """``text`` with everything but newlines turned into spaces."""
    return " " * len(text) if "\n" not in text else _NOT_NEWLINE.sub(" ", text)


def positions(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, int]]:
    """Every match of ``pattern``, which is one group, and its offset.

    The same as ``finditer`` in half the time: no match objects are made.
    """
    pieces = pattern.split(text)
    ends = accumulate(map(len, pieces))
    return zip(islice(pieces, 1, None, 2), islice(ends, 0, None, 2), strict=False)


class SourceText:
    """One file: its text, its code, and where things are."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.code, self.unended = _blank_opaque(text)
        """``unended``: the comment or raw string that never ends, by its offset; -1 for none."""

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of ``offset``, both from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Where a compiler's place is: it counts bytes, and may have read another text."""
        if line > len(self._line_starts):
            return len(self.text)
        start = self._line_starts[line - 1]
        shown = self.text[start:].partition("\n")[0].encode("utf-8", "surrogateescape")
        before = len(shown[: column - 1].decode("utf-8", "replace"))
        return min(start + before, len(self.text))

    @cached_property
    def _logical_starts(self) -> list[int]:
        """Where lines begin that no backslash joins to the one before."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.code))]

    def logical_line(self, offset: int) -> int:
        """Where the logical line of ``offset`` begins."""
        return self._logical_starts[bisect_right(self._logical_starts, offset) - 1]

    @cached_property
    def newline(self) -> str:
        """The line end this file uses."""
        return "\r\n" if "\r\n" in self.text else "\n"

    @cached_property
    def _pairs(self) -> dict[int, int]:
        """Offsets of the brackets that are closed, and of those that close them."""
        return self._brackets[0]

    @property
    def too_deep(self) -> int:
        """The first bracket inside more than 256 others, which count as open; -1 for none."""
        return self._brackets[1]

    @cached_property
    def _brackets(self) -> tuple[dict[int, int], int]:
        pairs: dict[int, int] = {}
        pending: list[tuple[str, int]] = []
        for bracket, offset in positions(_BRACKET, self.code):
            if bracket in _OPEN:
                pending.append((_OPEN[bracket], offset))
            elif pending:
                wanted, opening = pending.pop()
                if wanted == bracket:
                    pairs[opening] = offset
                else:
                    # What was opened before it cannot be closed any more either.
                    pending.clear()
        return _without_deepest(pairs)

    def closing(self, opening: int) -> int:
        """Offset of the bracket that closes the one at ``opening``; -1 when none does."""
        return self._pairs.get(opening, -1)

    def enclosing_braces(self, offset: int) -> list[int]:
        """The braces that are open at ``offset``, the innermost first."""
        starts, outer = self._braces
        index = bisect_right(starts, offset) - 1
        found = []
        while index >= 0:
            if self._pairs[starts[index]] > offset:
                found.append(starts[index])
            index = outer[index]
        return found

    @cached_property
    def _braces(self) -> tuple[list[int], list[int]]:
        """The braces that open and are closed, and for each the index of the one around it."""
        starts = sorted(opening for opening in self._pairs if self.code[opening] == "{")
        outer: list[int] = []
        for index, start in enumerate(starts):
            around = index - 1
            while around >= 0 and self._pairs[starts[around]] < start:
                around = outer[around]
            outer.append(around)
        return starts, outer

    def arguments(self, opening: int) -> tuple[list[Span], int] | None:
        """The arguments of a call whose parenthesis opens at ``opening``, and where it closes.

        Spans are trimmed of white space. Commas between template arguments do not split. None when
        the parenthesis is never closed.
        """
        closing = self.closing(opening)
        if closing < 0:
            return None
        spans: list[Span] = []
        depth, start = 0, opening + 1
        for match in _ARGUMENT_MARK.finditer(self.code, opening + 1, closing):
            mark = match.group()
            if mark in "([{":
                depth += 1
            elif mark in ")]}":
                depth -= 1
            elif depth == 0:
                spans.append((start, match.start()))
                start = match.end()
        spans.append((start, closing))
        spans = [self._trim(span) for span in self._joined_templates(spans)]
        if len(spans) == 1 and spans[0][0] == spans[0][1]:
            spans = []
        return spans, closing

    def _joined_templates(self, spans: list[Span]) -> list[Span]:
        joined: list[Span] = []
        depth = 0
        for start, end in spans:
            if depth > 0 and joined:
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((start, end))
                depth = 0
            for match in _ANGLE.finditer(self.code, start, end):
                mark = match.group()
                if mark == "<" and self._opens_arguments(match.start()):
                    depth += 1
                elif mark[0] == ">" and mark[-1] == ">" and depth:
                    depth = max(0, depth - len(mark))
        # An unmatched "<" was a comparison after all: the commas did split.
        return spans if depth else joined

    def _opens_arguments(self, offset: int) -> bool:
        """Whether ``<`` at ``offset`` begins arguments of a template, ``k<4`` or ``k < 4 >,``."""
        before = self.code[offset - 1]
        return bool(_WORD_CHARACTER.match(before)) or (
            before.isspace() and _WHOLE_ARGUMENTS.match(self.code, offset) is not None
        )

    def _trim(self, span: Span) -> Span:
        start, end = span
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return start, end


def _without_deepest(pairs: dict[int, int]) -> tuple[dict[int, int], int]:
    """``pairs`` without those inside more than ``_DEEPEST`` others, and the first of these."""
    ends: list[int] = []
    deep: list[int] = []
    for opening in sorted(pairs):
        while ends and ends[-1] < opening:
            ends.pop()
        ends.append(pairs[opening])
        if len(ends) > _DEEPEST:
            deep.append(opening)
    for opening in deep:
        del pairs[opening]
    return pairs, deep[0] if deep else -1


def opaque(text: str) -> Iterator[re.Match[str]]:
    """Comments and literals of ``text``, in order."""
    match = _OPAQUE.search(text)
    while match:
        start, end = match.span()
        separator = text[start] == "'" and _PP_NUMBER.search(text, max(0, start - 40), start + 1)
        if separator:
            # A digit separator (1'000), not a character literal.
            end = start + 1
        else:
            yield match
        match = _OPAQUE.search(text, end)


def _blank_opaque(text: str) -> tuple[str, int]:
    """``text`` with comments and literals blanked, and what of them never ends."""
    pieces: list[str] = []
    done = 0
    unended = -1
    for match in opaque(text):
        start, end = match.span()
        first = text[start]
        if match["open_comment"] is not None or match["open_string"] is not None:
            unended = start
        pieces.append(text[done:start])
        body = text[start:end]
        if first == "/":
            pieces.append(blank(body))
        elif len(body) > 1 and body[-1] == first:
            pieces.append(first + blank(body[1:-1]) + first)
        else:
            pieces.append(first + blank(body[1:]))
        done = end
    pieces.append(text[done:])
    # A path in angle brackets is no more code than one in quotes.
    code = _SYSTEM_INCLUDE.sub(lambda path: path[1] + blank(path[2]), "".join(pieces))
    return code, unended
