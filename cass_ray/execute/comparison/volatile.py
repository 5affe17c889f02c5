"""Output that can only differ from run to run and machine to machine, recognized by rule.

A rule frees single numbers (a duration, a bandwidth, an address) or the rest of a line (a device's
name) of the *reference*; everything else on the line still has to match. Rules look at the line
alone, so a candidate cannot free anything by what it prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cass_ray.execute.comparison.tokens import Line, OutputTokenKind, tokens_of

_TIME_UNIT = re.compile(
    r"^(?:ms|msec|msecs|milliseconds?|us|µs|usec|microseconds?|ns|nanoseconds?)$"
)
_SECONDS = re.compile(r"^(?:s|sec|secs|seconds?)$")
_TIME_WORD = re.compile(r"^(?:times?|timing|gpu_time|cpu_time|total_time|exec_time|in)$")
_MEASURED_WORD = re.compile(r"^(?:elapsed|took|duration|latency|runtime|wall|wallclock|speedup)$")
_RATE_UNIT = re.compile(
    r"^(?:[kmgt]?i?b/s|[kmgt]?i?bps|[kmgt]?flops?(?:/s)?|hz|khz|mhz|ghz|fps|iops)$"
)
_DEVICE_LINE = re.compile(
    r"(?i)^\W*(?:(?:using|running\s+on|selected|found|cuda|hip|gpu|compute)\W+)*"
    r"(?:device|gpu|graphics\s+card)\b(?:\s*(?:#?\d+|name|id|model|properties))*\s*[:=(]"
)
_DEVICE_NAME = re.compile(
    r"(?i)\b(?:nvidia|geforce|tesla|quadro|titan|rtx|gtx|amd|radeon|instinct|gfx\d|graphics"
    r"|[abhlvpt]\d{1,3}0?\b(?=\s|$|-|,)|tegra|orin|cpu)"
)
_DEVICE_PROPERTY = re.compile(
    r"(?i)\b(?:compute capability|multiprocessors?|driver version|runtime version|clock rate|"
    r"memory clock|bus width|total (?:global |device )?memory|free memory|l2 cache|sm count|"
    r"cuda cores|warp size|pci\b|uuid)\b"
)
_POINTER = re.compile(r"^0x[0-9a-fA-F]{7,16}$")
_POINTER_WORD = re.compile(r"(?i)\b(?:address|pointer|ptr|at|allocated)\b")
_DATE = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b|\b\d\d:\d\d:\d\d\b")


@dataclass(frozen=True)
class Freedom:
    """What of a line is free: token positions, or all from ``rest_from`` on; and by which rule."""

    tokens: frozenset[int] = frozenset()
    rest_from: int | None = None
    rule: str = ""

    def frees(self, position: int) -> bool:
        """Whether the token at ``position`` may be anything."""
        return position in self.tokens or (
            self.rest_from is not None and position >= self.rest_from
        )


NOTHING = Freedom()


def freedom(text: str, line: Line) -> Freedom:
    """The free part of ``line``, whose text is ``text``."""
    match = _DEVICE_LINE.match(text)
    if match and _DEVICE_NAME.search(text, match.end()):
        return Freedom(rest_from=_tokens_before(text, match.end(), line), rule="device name")
    if _DEVICE_PROPERTY.search(text) and any(
        token.kind is not OutputTokenKind.TEXT for token in line
    ):
        return Freedom(tokens=_numbers(line), rule="device property")
    if _DATE.search(text):
        return Freedom(tokens=_numbers(line), rule="date")
    durations = _durations(line)
    if durations:
        return Freedom(tokens=durations, rule="time or rate")
    pointers = frozenset(i for i, token in enumerate(line) if _POINTER.match(token.text))
    if pointers and _POINTER_WORD.search(text):
        return Freedom(tokens=pointers, rule="address")
    return NOTHING


def _durations(line: Line) -> frozenset[int]:
    """Positions of numbers that are a duration or a rate by their unit or by the line's words."""
    words = {token.text.lower() for token in line if token.kind is OutputTokenKind.TEXT}
    timed = any(_TIME_WORD.match(word) for word in words)
    measured = any(_MEASURED_WORD.match(word) for word in words)
    durations = set()
    for position, token in enumerate(line):
        if token.kind is OutputTokenKind.TEXT:
            continue
        unit = (token.unit or _unit_after(line, position)).lower()
        if (
            _TIME_UNIT.match(unit)
            or _RATE_UNIT.match(unit)
            or (_SECONDS.match(unit) and (timed or measured))
        ) or (not unit and measured and token.kind is OutputTokenKind.FLOAT):
            durations.add(position)
    return frozenset(durations)


def _unit_after(line: Line, position: int) -> str:
    """The word after a number, past an opening bracket; ``GB``, ``/``, ``s`` is one unit."""
    rest = [token.text for token in line[position + 1 : position + 5]]
    if rest[:1] in (["("], ["["]):
        rest = rest[1:]
    if len(rest) >= 3 and rest[1] == "/" and rest[2].lower() in {"s", "sec", "second"}:
        return f"{rest[0]}/s"
    if not rest or not (rest[0][0].isalpha() or rest[0][0] == "µ"):
        return ""
    return rest[0]


def _numbers(line: Line) -> frozenset[int]:
    return frozenset(i for i, token in enumerate(line) if token.kind is not OutputTokenKind.TEXT)


def _tokens_before(text: str, end: int, line: Line) -> int:
    """How many tokens of ``line`` lie in ``text[:end]``."""
    return min(len(tokens_of(text[:end])), len(line))
