"""Text of makefiles with its expressions, ``$(…)`` and ``${…}``, as make reads them.

Flags stand in arguments of functions as well: ``$(foreach sm,$(SMS),-gencode arch=compute_$(sm))``.
A pattern for flags sees such an argument as a text of its own, in which every expression is one
letter of a word (:data:`REFERENCE`). A function of which nothing is left goes as a whole.

Source of the functions and of how many arguments they take: GNU make's manual, chapter 8.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

REFERENCE = "[\U00020000-\U0002a6df]"
"""What a pattern sees in the place of an expression: a letter, so that it is part of a word."""
_FIRST = 0x20000
_MOST = 0xA6DF
CONTINUATION = "\u2028"
"""In the place of a backslash at the end of a line: white space."""

_OPENING = re.compile(r"\$+[({]")
_CLOSING = {"(": ")", "{": "}"}
_FUNCTION = re.compile(r"([a-z-]+)[ \t\u2028]+", re.DOTALL)
_SUBSTITUTION = re.compile(r"([^\s:=#()${}]+):([^=]*)=(.*)", re.DOTALL)
_ASSIGNED = re.compile(r"\s*(?:override\s+)?[^\s:=+?]+\s*\+=\s*")
_ARGUMENTS = {
    "foreach": 3,
    "eval": 1,
    "addprefix": 2,
    "addsuffix": 2,
    "if": 3,
    "patsubst": 3,
    "subst": 3,
    "filter": 2,
    "filter-out": 2,
    "strip": 1,
    "sort": 1,
    "shell": 1,
    "call": 0,
    "or": 0,
    "and": 0,
    "firstword": 1,
    "lastword": 1,
}
"""Function -> how many arguments it takes at most, 0: any number. A further comma is text."""
_TEXTS: dict[str, Callable[[int], bool]] = {
    "foreach": lambda index: index == 2,
    "if": lambda index: index > 0,
    "call": lambda index: index > 0,
    "patsubst": lambda index: index == 2,
    "subst": lambda index: index == 2,
    "filter": lambda index: index == 1,
    "filter-out": lambda index: index == 1,
}
"""Which arguments hold text that becomes part of the result; of other functions all do."""
_VANISHES = {"foreach", "if", "strip", "sort", "eval", "or", "and", "filter", "filter-out"}

Change = Callable[[str], str]
"""Rewrites a text in which expressions are letters."""


def rewrite(text: str, change: Change) -> str:
    """``text`` with ``change`` made in it and in the arguments of its expressions.

    Text whose parentheses do not match is left as it is, and so is one with letters of
    :data:`REFERENCE` of its own.
    """
    if re.search(REFERENCE, text):
        return text
    try:
        return _Expressions(change).text(text)
    except _Unbalanced:
        return text


def is_balanced(text: str) -> bool:
    """Whether every expression of ``text`` ends."""
    try:
        _Expressions(lambda part: part).text(text)
    except _Unbalanced:
        return False
    return True


class _Unbalanced(Exception):
    pass


class _Expressions:
    def __init__(self, change: Change) -> None:
        self._change = change

    def text(self, text: str) -> str:
        """A text whose result is its own: a value, a recipe, an argument."""
        masked, kept = self._mask(text)
        return _unmasked(self._change(masked), kept)

    def _mask(self, text: str) -> tuple[str, list[str]]:
        pieces, kept, position = list[str](), list[str](), 0
        while opening := _OPENING.search(text, position):
            end = _end_of(text, opening.end() - 1)
            pieces.append(text[position : opening.start()])
            made = self._expression(text[opening.start() : end], opening.end() - opening.start())
            if made and len(kept) < _MOST:
                pieces.append(chr(_FIRST + len(kept)))
                kept.append(made)
            else:
                pieces.append(made)
            position = end
        return "".join(pieces) + text[position:], kept

    def _expression(self, whole: str, opening: int) -> str:
        """The expression, rewritten; empty where nothing is left of it."""
        head, inner, tail = whole[:opening], whole[opening:-1], whole[-1]
        function = _FUNCTION.match(inner)
        if function and function[1] in _ARGUMENTS:
            arguments = _split(inner[function.end() :], _ARGUMENTS[function[1]])
            return self._function(function[1], f"{head}{function[0]}", arguments, tail)
        if substitution := _SUBSTITUTION.fullmatch(inner):
            name, pattern, old = substitution.groups()
            new = self.text(old)
            is_gone = old.strip() and not new.strip()
            return "" if is_gone else f"{head}{name}:{pattern}={new}{tail}"
        if not function and " " in inner:  # a command of the shell
            return f"{head}{self.text(inner)}{tail}"
        return whole

    def _function(self, name: str, head: str, arguments: list[str], tail: str) -> str:
        if name in {"addprefix", "addsuffix"} and len(arguments) == 2:
            return self._added(name, head, (arguments[0], arguments[1]), tail)
        if name == "patsubst" and len(arguments) == 3:
            new = self.text(arguments[1])
            if arguments[1].strip() and not new.strip():
                return ""
            arguments = [arguments[0], new, arguments[2]]
        is_text = _TEXTS.get(name, _always)
        texts = [
            self.text(argument) if is_text(index) else argument
            for index, argument in enumerate(arguments)
        ]
        shown = [text for index, text in enumerate(texts) if is_text(index)]
        if name in _VANISHES and texts != arguments and not any(map(_is_something, shown)):
            return ""
        return f"{head}{','.join(texts)}{tail}"

    def _added(self, name: str, head: str, arguments: tuple[str, str], tail: str) -> str:
        """What is put before or behind each word: a flag may need it for its value."""
        letter, affix, words = chr(_FIRST + _MOST), arguments[0], self.text(arguments[1])
        made = self.text(affix + letter if name == "addprefix" else letter + affix)
        if letter not in made:
            return ""
        before, _, behind = made.partition(letter)
        new, other = (before, behind) if name == "addprefix" else (behind, before)
        if other.strip():
            new = affix
        return f"{head}{new},{words}{tail}" if new.strip() or new == affix else words


def _always(index: int) -> bool:
    del index
    return True


def _is_something(text: str) -> bool:
    """Whether more is left than an assignment of nothing."""
    added = _ASSIGNED.match(text)
    return bool(text[added.end() :].strip() if added else text.strip())


def _unmasked(text: str, kept: Sequence[str]) -> str:
    def expression(match: re.Match[str]) -> str:
        index = ord(match.group()) - _FIRST
        return kept[index] if index < len(kept) else match.group()

    return re.sub(REFERENCE, expression, text)


def _end_of(text: str, opening: int) -> int:
    """Behind the parenthesis that closes the one at ``opening``; make counts its kind alone."""
    one, other = text[opening], _CLOSING[text[opening]]
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] == one) - (text[place] == other)
        if depth == 0:
            return place + 1
    raise _Unbalanced


def _split(text: str, most: int) -> list[str]:
    """The arguments of a function, at most ``most`` (0: any number)."""
    arguments, start, depth = list[str](), 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "({") - (letter in ")}")
        if letter == "," and depth == 0 and (not most or len(arguments) < most - 1):
            arguments.append(text[start:place])
            start = place + 1
    return [*arguments, text[start:]]
