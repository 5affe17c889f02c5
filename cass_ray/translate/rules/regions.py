"""Where code is: in device functions, and in branches that are never compiled.

Both are found on the blanked text by bracket matching and by the directives, not by a full parse:
what cannot be decided counts as live host code, so that nothing goes unreported.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from cass_ray.translate.rules.text import SourceText, Span

ARCHITECTURES = (900, 890, 800, 700)
"""Generations of Nvidia hardware whose branches may be taken, the preferred one first (``guards``).

700 is the oldest with the ``_sync`` warp functions.
"""

_REFUSAL = re.compile(r"^[ \t]*#[ \t]*if([^\n]*)\n\s*#[ \t]*error", re.MULTILINE)
_OLDER_THAN = re.compile(r"__CUDA_ARCH__[ \t]*<[ \t]*([0-9]{3,4})")
DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(?P<name>if|ifdef|ifndef|elif|else|endif)\b(?P<rest>(?:[^\n]*\\\n)*[^\n]*)",
    re.MULTILINE,
)
_SIMPLE = re.compile(
    r"\s*+(?P<device>defined\s*+\(?\s*+__CUDA_ARCH__\s*+\)?\s*+&&\s*+)?\(?\s*+__CUDA_ARCH__\s*+"
    r"(?P<operator>>=|<=|>|<|==|!=)\s*+\(?(?P<value>\d+)\)?\s*+\)?\s*+"
)
_INTEGER = re.compile(r"\s*+\(?\s*+(\d+)\s*+\)?\s*+")


def oldest_accepted(source: SourceText) -> int:
    """The oldest ``__CUDA_ARCH__`` that the file does not refuse by ``#error``; 0 for any."""
    refused = (_OLDER_THAN.findall(match[1]) for match in _REFUSAL.finditer(source.code))
    return max((int(values[-1]) for values in refused if values), default=0)


class Spans:
    """Disjoint sorted spans, asked whether they hold an offset."""

    def __init__(self, spans: list[Span]) -> None:
        self._spans = sorted(spans)
        self._starts = [start for start, _ in self._spans]

    def __contains__(self, offset: int) -> bool:
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self._spans[index][1]


def dead_code(source: SourceText, architecture: int) -> Spans:
    """The branches that are not compiled when ``__CUDA_ARCH__`` is ``architecture``."""
    dead: list[Span] = []
    # A frame: (is the branch being read dead, was a branch of this #if surely taken, its start).
    stack: list[tuple[bool | None, bool, int]] = []
    for match in DIRECTIVE.finditer(source.code):
        name = match["name"]
        if name in {"if", "ifdef", "ifndef"}:
            value = _evaluate(match["rest"], architecture) if name == "if" else None
            stack.append((value, value is True, match.end()))
            continue
        if not stack:
            continue
        value, taken, start = stack.pop()
        if value is False:
            dead.append((start, match.start()))
        if name == "endif":
            continue
        if taken:
            value = False
        elif name == "elif":
            value = _evaluate(match["rest"], architecture)
        else:
            value = True if value is False else None
        stack.append((value, taken or value is True, match.end()))
    return Spans(_merged(dead))


def _evaluate(condition: str, architecture: int) -> bool | None:
    """The value of an ``#if`` condition; None when it depends on more than the architecture."""
    number = _INTEGER.fullmatch(condition)
    if number:
        return int(number[1]) != 0
    simple = _SIMPLE.fullmatch(condition)
    if not simple:
        return None
    value = int(simple["value"])
    holds = {
        ">=": architecture >= value,
        "<=": architecture <= value,
        ">": architecture > value,
        "<": architecture < value,
        "==": architecture == value,
        "!=": architecture != value,
    }[simple["operator"]]
    # The host pass has no architecture: there only a comparison with "<" can hold.
    never = simple["device"] is not None or simple["operator"] in {">=", ">", "=="}
    return holds if holds or never else None


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


DEVICE_WORDS = ("__global__", "__device__")


def device_functions(source: SourceText, ends: Iterable[int]) -> Spans:
    """The bodies of device functions; ``ends``: behind each of :data:`DEVICE_WORDS`, sorted."""
    return Spans(function_bodies(source, ends))


def function_bodies(source: SourceText, ends: Iterable[int]) -> list[Span]:
    """The bodies of functions; ``ends``: behind a word of each one's declaration, sorted."""
    bodies: list[Span] = []
    end = 0
    heads = _Heads(source)
    for offset in ends:
        if offset < end:
            continue
        brace = heads.body(offset)
        if brace >= 0:
            closing = source.closing(brace)
            if closing >= 0:
                bodies.append((brace, closing))
                end = closing
    return bodies


def device_words(source: SourceText) -> set[str]:
    """:data:`DEVICE_WORDS` and the file's own names for them (``#define KERNEL __global__``)."""
    found = set(DEVICE_WORDS)
    for match in _NAMED.finditer(source.code):
        if found.intersection(match["words"].split()):
            found.add(match["name"])
    return found


_TO_BODY = re.compile(r"[({;=]")
_NAMED = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w++)(?P<words>(?:[ \t]++\w++)++)[ \t]*+$", re.M
)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define\b(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)


class _Heads:
    """The declarations of a file, each of their marks read once however many words lead to it."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._marks = [match.start() for match in _TO_BODY.finditer(source.code)]
        self._macros = [match.span() for match in _DEFINE.finditer(source.code)]
        self._bodies: dict[int, int] = {}
        """What comes behind parameters, by the index of the next mark."""

    def body(self, offset: int) -> int:
        """The brace that opens the body of the function declared at ``offset``; -1 for none.

        What a macro declares ends with the macro.
        """
        index = bisect_left(self._marks, offset)
        if index == len(self._marks) or self._source.code[self._marks[index]] != "(":
            return -1
        brace = self._behind(index)
        macro = bisect_left(self._macros, (offset,)) - 1
        end = self._macros[macro][1] if macro >= 0 else -1
        return -1 if offset <= end < brace else brace

    def _behind(self, index: int) -> int:
        passed = []
        while index not in self._bodies:
            passed.append(index)
            mark = self._marks[index]
            kind = self._source.code[mark]
            closing = self._source.closing(mark) if kind == "(" else -1
            following = bisect_left(self._marks, closing)
            if closing < 0 or following == len(self._marks):
                self._bodies[index] = mark if kind == "{" else -1
            else:
                index = following
        found = self._bodies[index]
        self._bodies.update(dict.fromkeys(passed, found))
        return found
