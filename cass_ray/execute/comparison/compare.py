"""Compare a candidate's output with the reference's: byte for byte, and as numbers.

The ``exact`` verdict is the CASS paper's. The ``numeric`` verdict aligns both outputs line by line
and token by token: text and integers are equal, floats agree within a tolerance that follows from
the program's types, NaN and infinities stand at the same places. What the reference itself prints
differently from run to run is left out and listed. For a reference whose runs could not be varied,
so is what can only differ by rule (:mod:`cass_ray.execute.comparison.volatile`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from cass_ray.execute.comparison.runs import common_runs
from cass_ray.execute.comparison.tokens import Line, OutputToken, OutputTokenKind, lines_of
from cass_ray.execute.comparison.variation import (
    WILD_SHARE,
    Expected,
    TokenColumn,
    shape_of,
    with_variation,
    with_wild_columns,
)
from cass_ray.execute.comparison.volatile import NOTHING, Freedom, freedom

_LISTED = 20
_SHOWN = 200
_EFFORT_A_LINE = 16
"""How often a line may be compared, on average, to find where a block of lines stands."""
_KEPT_BYTES = 256 << 10
"""Longer outputs are read each time: their tokens take much memory."""
_ROUNDED_SHARE = 0.02
_ROUNDED_TOLERANCES = 2.0
"""One unit of the last printed digit is rounding where it is at most so many tolerances."""
_SPREAD_FACTOR = 10.0
_RESIDUAL_ROUNDINGS = 64.0
"""A number of at most so many absolute tolerances may be rounding alone."""


@dataclass(frozen=True)
class Tolerance:
    """``|a - b| <= max(relative * |a|, absolute * scale)``, where ``scale`` is the largest number
    that the reference prints at the same place of lines alike: what is left of two large numbers
    has their error. The name is the type that it stands for."""

    name: str
    relative: float
    absolute: float

    def format(self) -> str:
        return f"{self.name}: relative {self.relative:g}, {self.absolute:g} of the largest number"


# Of 8, 11, 24 and 53 bits; the absolute ones are four roundings of the largest number, of a double
# a hundred.
BF16 = Tolerance("bf16", 2e-2, 4 * 2**-8)
F16 = Tolerance("f16", 1e-2, 4 * 2**-11)
F32 = Tolerance("f32", 1e-4, 4 * 2**-24)
F64 = Tolerance("f64", 1e-9, 100 * 2**-53)


@dataclass(frozen=True)
class OutputComparison:
    """Both verdicts and what they rest on. Errors are relative, over the floats compared.

    ``rounded`` counts floats that differ by one unit of their last printed digit, no more.
    ``freed`` and ``varying`` list lines with what was left out, ``difference`` is the first one.
    """

    exact: bool
    numeric: bool
    max_error: float = 0.0
    mean_error: float = 0.0
    floats: int = 0
    rounded: int = 0
    freed: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()
    difference: str = ""


@dataclass
class _Tally:
    errors: list[float] = field(default_factory=list)
    rounded: int = 0
    same_data: bool = False
    rounding: float = 0.0
    """The rounding of the numbers that both outputs were printed from."""


class _Difference(Exception):
    """Where candidate and reference part."""


class _TooAlike(Exception):
    """The lines are so much alike that the place of a block was looked for too long."""


@dataclass
class _Effort:
    """How many more lines may be compared to find where blocks stand."""

    lines: int

    def spend(self) -> None:
        self.lines -= 1
        if self.lines < 0:
            raise _TooAlike


def _shown(text: str) -> str:
    """The beginning of a line; it may be as long as the whole output."""
    return repr(text[:_SHOWN].strip())


def compare(
    references: Sequence[bytes],
    candidate: bytes,
    tolerance: Tolerance = F32,
    *,
    order_free: bool = False,
    varied: bool = False,
    same_data: bool = False,
    data_size: float = 0.0,
    drawn: bool = False,
) -> OutputComparison:
    """Compare ``candidate`` with the outputs of one or more runs of the reference.

    ``order_free`` compares the lines as a multiset; it is declared for a task, never guessed.
    ``varied``: the runs had different clocks and devices, so that only what differs between them is
    free. ``same_data``: the numbers behind both outputs are known to agree, so that one unit of the
    last printed digit is rounding. ``data_size`` is how large they are: errors that a program
    prints of its own results are their rounding, and may differ as roundings do. ``drawn``: each
    run draws other inputs: what varies is free, however little. Raises :class:`ValueError` without
    a reference.
    """
    if not references:
        raise ValueError("no output of the reference to compare with")
    if varied and all(each == candidate for each in references):
        # Nothing varies, so that nothing is free: what is read of it is how many floats there are.
        return OutputComparison(exact=True, numeric=True, floats=_floats_in(candidate))
    template = _template(tuple(references), order_free, varied, drawn)
    exact = candidate in references
    rounding = tolerance.absolute * data_size if same_data else 0.0
    tally = _Tally(same_data=same_data, rounding=rounding)
    try:
        template.match(candidate, tolerance, tally)
        difference = _too_much_rounding(tally)
    except _Difference as error:
        difference = str(error)
    except _TooAlike:
        difference = "too many lines alike to tell which of them the reference prints every time"
    return OutputComparison(
        exact=exact,
        numeric=not difference,
        max_error=max(tally.errors, default=0.0),
        mean_error=math.fsum(tally.errors) / len(tally.errors) if tally.errors else 0.0,
        floats=len(tally.errors),
        rounded=tally.rounded,
        freed=template.freed,
        varying=template.varying,
        difference=difference,
    )


def _template(
    references: tuple[bytes, ...], order_free: bool, varied: bool, drawn: bool
) -> _Template:
    """One program is compared with the same outputs many times."""
    small = sum(map(len, references)) <= _KEPT_BYTES
    make = _kept_template if small else _kept_template.__wrapped__
    return make(references, order_free, varied, drawn)


@functools.lru_cache(maxsize=16)
def _kept_template(
    references: tuple[bytes, ...], order_free: bool, varied: bool, drawn: bool
) -> _Template:
    return _Template(references, order_free=order_free, varied=varied, drawn=drawn)


@functools.lru_cache(maxsize=16)
def _floats_in(output: bytes) -> int:
    tokens = (token for line in lines_of(output) for token in line)
    return sum(each.kind is OutputTokenKind.FLOAT and math.isfinite(each.value) for each in tokens)


def _too_much_rounding(tally: _Tally) -> str:
    allowed = max(1, int(len(tally.errors) * _ROUNDED_SHARE))
    if tally.rounded <= allowed:
        return ""
    return f"{tally.rounded} of {len(tally.errors)} numbers differ in their last digit"


class _Template:
    """What the reference prints: blocks of lines, with gaps where its runs differ in structure."""

    def __init__(
        self, references: Sequence[bytes], *, order_free: bool, varied: bool, drawn: bool
    ) -> None:
        self._order_free = order_free
        outputs = [_split(output) for output in references]
        if order_free:
            outputs = [sorted(output, key=_order) for output in outputs]
        first = outputs[0]
        self._blocks: list[list[Expected]] = [[Expected(text, line) for text, line in first]]
        self._open_start = self._open_end = False
        notes: list[str] = []
        for other in outputs[1:]:
            if [len(line) for _, line in other] == [len(line) for _, line in first]:
                self._blocks = [with_variation(self._blocks[0], other)]
            else:
                self._blocks, notes = self._common(first, other)
                break
        self._blocks = with_wild_columns(self._blocks, 0.0 if drawn else WILD_SHARE)
        self.varying = tuple([*notes, *self._varying_lines()][:_LISTED])
        columns = _columns(outputs)
        self._blocks = [
            [_with_freedom(line, columns, varied=varied) for line in block]
            for block in self._blocks
        ]
        lines = [line for block in self._blocks for line in block if line.free is not NOTHING]
        self.freed = tuple(f"{line.free.rule}: {line.text.strip()}" for line in lines)[:_LISTED]

    def _common(
        self, first: list[tuple[str, Line]], other: list[tuple[str, Line]]
    ) -> tuple[list[list[Expected]], list[str]]:
        """Blocks of lines that both runs print, and the lines that only one prints."""
        texts = [text for text, _ in first], [text for text, _ in other]
        blocks: list[list[Expected]] = []
        notes: list[str] = []
        position = other_position = 0
        for start, other_start, length in [*common_runs(*texts), (len(first), len(other), 0)]:
            gap = [*texts[0][position:start], *texts[1][other_position:other_start]]
            self._open_start |= bool(gap) and not blocks
            self._open_end = bool(gap)
            notes += gap
            position, other_position = start + length, other_start + length
            if length:
                blocks.append([Expected(*line) for line in first[start:position]])
        return blocks, notes

    def _varying_lines(self) -> list[str]:
        return [line.text.strip() for block in self._blocks for line in block if line.varying]

    def match(self, candidate: bytes, tolerance: Tolerance, tally: _Tally) -> None:
        """Raise :class:`_Difference` at the first line that does not fit."""
        lines = _split(candidate)
        if self._order_free:
            lines = sorted(lines, key=_order)
        if len(self._blocks) == 1 and not (self._open_start or self._open_end):
            _match_block(self._blocks[0], lines, 0, tolerance, tally)
            if len(lines) != len(self._blocks[0]):
                raise _Difference(f"{len(lines)} lines instead of {len(self._blocks[0])}")
            return
        self._match_with_gaps(lines, tolerance, tally)

    def _match_with_gaps(
        self, lines: list[tuple[str, Line]], tolerance: Tolerance, tally: _Tally
    ) -> None:
        position = 0
        effort = _Effort(_EFFORT_A_LINE * (len(lines) + sum(map(len, self._blocks))))
        for number, block in enumerate(self._blocks):
            anchored = number == 0 and not self._open_start
            starts = [position] if anchored else range(position, len(lines) - len(block) + 1)
            for start in starts:
                trial = _Tally(same_data=tally.same_data, rounding=tally.rounding)
                try:
                    _match_block(block, lines, start, tolerance, trial, effort)
                except _Difference:
                    continue
                tally.errors += trial.errors
                tally.rounded += trial.rounded
                position = start + len(block)
                break
            else:
                raise _Difference(f"missing: {_shown(block[0].text)} …")
        if not self._open_end and position != len(lines):
            raise _Difference(f"unexpected: {_shown(lines[position][0])}")


def _split(output: bytes) -> list[tuple[str, Line]]:
    return list(_kept_lines(output)) if len(output) <= _KEPT_BYTES else _lines(output)


@functools.lru_cache(maxsize=16)
def _kept_lines(output: bytes) -> tuple[tuple[str, Line], ...]:
    return tuple(_lines(output))


def _lines(output: bytes) -> list[tuple[str, Line]]:
    text = output.decode("utf-8", "backslashreplace").rstrip()
    return list(zip(text.splitlines(), lines_of(output), strict=True))


def _order(item: tuple[str, Line]) -> tuple[list[str], list[float]]:
    """Text first, then values: close floats sort alike on both sides."""
    _, line = item
    texts = [token.text for token in line if token.kind is OutputTokenKind.TEXT]
    values = [0.0 if math.isnan(token.value) else token.value for token in line]
    return texts, values


def _with_freedom(
    line: Expected, columns: dict[tuple[str, ...], list[TokenColumn]], *, varied: bool
) -> Expected:
    free = freedom(line.text, line.tokens)
    if varied:
        # What a rule says of single numbers was measured; of a name, that it varies.
        names = free.rest_from is not None and any(each >= free.rest_from for each in line.varying)
        free = Freedom(rest_from=free.rest_from, rule=free.rule) if names else NOTHING
    own = tuple(columns[shape_of(line.tokens)])
    return Expected(line.text, line.tokens, free, line.varying, line.spread, own)


def _columns(outputs: Sequence[list[tuple[str, Line]]]) -> dict[tuple[str, ...], list[TokenColumn]]:
    columns: dict[tuple[str, ...], list[TokenColumn]] = {}
    for output in outputs:
        for _, line in output:
            own = columns.setdefault(shape_of(line), [TokenColumn() for _ in line])
            for column, token in zip(own, line, strict=True):
                if token.kind is not OutputTokenKind.TEXT:
                    column.add(token)
    return columns


def _match_block(
    block: list[Expected],
    lines: list[tuple[str, Line]],
    start: int,
    tolerance: Tolerance,
    tally: _Tally,
    effort: _Effort | None = None,
) -> None:
    for offset, expected in enumerate(block):
        if effort is not None:
            effort.spend()
        if start + offset >= len(lines):
            raise _Difference(f"line {start + offset + 1} is missing: {_shown(expected.text)}")
        text, tokens = lines[start + offset]
        try:
            _match_line(expected, tokens, tolerance, tally)
        except _Difference as error:
            place = f"line {start + offset + 1}: {_shown(text)}"
            wanted = f"instead of {_shown(expected.text)}"
            raise _Difference(f"{place} {wanted}: {error}") from None


def _match_line(expected: Expected, tokens: Line, tolerance: Tolerance, tally: _Tally) -> None:
    length = len(expected.tokens)
    if expected.free.rest_from is not None:
        length = min(length, expected.free.rest_from)
        tokens = tokens[:length]
    if len(tokens) != length:
        raise _Difference(f"{len(tokens)} words instead of {length}")
    for position, (wanted, token) in enumerate(zip(expected.tokens, tokens, strict=False)):
        if expected.free.frees(position):
            if token.kind is OutputTokenKind.TEXT:
                raise _Difference(f"{token.text!r} is no number")
            continue
        spread = expected.spread[position] if position in expected.varying else 0.0
        if math.isinf(spread):
            continue
        _match_token(wanted, token, expected.columns[position], tolerance, spread, tally)


def _match_token(
    wanted: OutputToken,
    found: OutputToken,
    column: TokenColumn,
    tolerance: Tolerance,
    spread: float,
    tally: _Tally,
) -> None:
    # `%g` prints a float that is whole without a point: beside others that have one it is a float.
    whole = wanted.kind is OutputTokenKind.INTEGER
    exact = whole and (not column.has_floats or "x" in wanted.text.lower())
    if exact or OutputTokenKind.TEXT in (wanted.kind, found.kind):
        if wanted.text != found.text:
            raise _Difference(f"{found.text!r} instead of {wanted.text!r}")
        return
    if wanted.unit != found.unit:
        raise _Difference(f"{found.text!r} instead of {wanted.text!r}")
    if math.isnan(wanted.value) or math.isnan(found.value):
        if math.isnan(wanted.value) != math.isnan(found.value):
            raise _Difference(f"{found.text} instead of {wanted.text}")
        return
    if math.isinf(wanted.value) or math.isinf(found.value):
        if wanted.value != found.value:
            raise _Difference(f"{found.text} instead of {wanted.text}")
        return
    _match_float(wanted, found, column, tolerance, spread, tally)


def _match_float(
    wanted: OutputToken,
    found: OutputToken,
    column: TokenColumn,
    tolerance: Tolerance,
    spread: float,
    tally: _Tally,
) -> None:
    distance = abs(wanted.value - found.value)
    scale = abs(wanted.value)
    absolute = tolerance.absolute * column.scale
    # Below the absolute tolerance a relative error says nothing.
    tally.errors.append(distance / (max(scale, absolute) or distance) if distance else 0.0)
    allowed = max(tolerance.relative * scale, absolute)
    if distance <= allowed + _SPREAD_FACTOR * spread:
        return
    largest = max(scale, abs(found.value))
    if distance <= tally.rounding and largest <= _RESIDUAL_ROUNDINGS * tally.rounding:
        return
    # Values on both sides of a rounding boundary print one unit apart.
    quantum = wanted.quantum
    largest = 0.1 * scale if tally.same_data else _ROUNDED_TOLERANCES * allowed
    if quantum == found.quantum and distance <= 1.5 * quantum and quantum <= largest:
        tally.rounded += 1
        return
    raise _Difference(f"{found.text} instead of {wanted.text}")
