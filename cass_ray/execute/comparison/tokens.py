"""Program output as lines of tokens: numbers with their precision, and text.

A word is a maximal run of letters, digits, signs and points that could be a number, so that the
digits inside a hash or an identifier are never read as one.
"""

from __future__ import annotations

import math
import re
from enum import StrEnum
from typing import NamedTuple


class OutputTokenKind(StrEnum):
    """What a token is."""

    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"


class OutputToken(NamedTuple):
    """``value`` is for numbers; ``quantum`` is the worth of a float's last printed digit.

    ``unit`` is a suffix written onto the number (``12ms``), compared as text.
    """

    kind: OutputTokenKind
    text: str
    value: float = 0.0
    quantum: float = 0.0
    unit: str = ""


Line = tuple[OutputToken, ...]

_NUMBER = r"[+-]?(?:nan|inf(?:inity)?|0[xX][0-9a-fA-F]+|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)"
_UNITS = (
    r"%|x|s|ms|us|µs|ns|sec|secs|seconds?|hz|khz|mhz|ghz|[kmgt]?i?b(?:/s|ps)?|[kmgt]?flops?(?:/s)?"
    r"|f|f32|f64"
)
_TOKEN = re.compile(
    # A number stands alone: no letter, digit, underscore or point touches it.
    rf"(?<![\w.])(?P<number>{_NUMBER})(?P<unit>(?:{_UNITS})?)(?![\w]|\.\d)"
    r"|(?P<word>[A-Za-z0-9_.]+)"
    r"|(?P<mark>[^\sA-Za-z0-9_.])",
    re.IGNORECASE,
)
_LONGEST_NUMBER = 400
"""Characters; the largest double has 309 digits before its point. Longer ones are text."""
_FLOAT_DIGITS = re.compile(r"[+-]?\d*(?:\.(?P<fraction>\d*))?(?:[eE](?P<exponent>[+-]?\d+))?$")


def lines_of(output: bytes) -> list[Line]:
    """Tokens by line; blank lines at the end do not count, trailing blanks never do."""
    text = output.decode("utf-8", "backslashreplace").rstrip()
    return [tokens_of(line) for line in text.splitlines()]


def tokens_of(line: str) -> Line:
    """The tokens of one line."""
    tokens = []
    for match in _TOKEN.finditer(line):
        if match["number"]:
            tokens.append(_number(match["number"], match["unit"]))
        else:
            tokens.append(OutputToken(OutputTokenKind.TEXT, match[0]))
    return tuple(tokens)


def _number(text: str, unit: str) -> OutputToken:
    if len(text) > _LONGEST_NUMBER:
        return OutputToken(OutputTokenKind.TEXT, text + unit)
    digits = _FLOAT_DIGITS.match(text)
    if digits is None:
        return _hexadecimal_or_word(text, unit)
    fraction, exponent = digits["fraction"], digits["exponent"]
    value = float(text)
    if fraction is None and exponent is None:
        return OutputToken(OutputTokenKind.INTEGER, text + unit, value, unit=unit)
    if math.isinf(value):  # digits with an e among them: not a number anyone printed
        return OutputToken(OutputTokenKind.TEXT, text + unit)
    last = int(exponent or 0) - len(fraction or "")
    quantum = float(10.0 ** max(-330, min(300, last)))
    return OutputToken(OutputTokenKind.FLOAT, text + unit, value, quantum, unit)


def _hexadecimal_or_word(text: str, unit: str) -> OutputToken:
    lowered = text.lower()
    if "0x" in lowered:
        return OutputToken(OutputTokenKind.INTEGER, text + unit, _hexadecimal(lowered), unit=unit)
    value = math.nan if "nan" in lowered else float(lowered[:4].rstrip("i"))
    return OutputToken(OutputTokenKind.FLOAT, text + unit, value, unit=unit)


def _hexadecimal(text: str) -> float:
    try:
        return float(int(text, 16))
    except OverflowError:
        return math.inf
