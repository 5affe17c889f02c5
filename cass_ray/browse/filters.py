"""What a person types to narrow rows down, as a condition on them.

Words apart by spaces must all hold: ``text`` is somewhere in the row's names, ``column=value`` and
``column:part`` compare texts without regard to case, ``column>number`` and ``column<number``
numbers; ``!`` before a word turns it around, quotes keep spaces together.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

NAMES = ("id", "filename", "path", "repository", "domain", "kernels")
"""Columns that a word without a column is looked for in."""

_WORD = re.compile(r"(?P<no>!?)(?:(?P<column>\w+)(?P<operator>[=:<>]))?(?P<value>.*)", re.DOTALL)


class FilterError(ValueError):
    """A filter that cannot be read; the message says what to write."""


@dataclass(frozen=True)
class _Word:
    columns: tuple[str, ...]
    operator: str
    value: str
    negated: bool

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        mask = None
        for name in self.columns:
            here = pc.fill_null(self._holds(batch.column(name)), False)
            mask = here if mask is None else pc.or_(mask, here)
        assert mask is not None
        return pc.invert(mask) if self.negated else mask

    def _holds(self, column: pa.Array) -> pa.Array:
        if self.operator in "<>":
            compare = pc.less if self.operator == "<" else pc.greater
            return compare(column, pa.scalar(float(self.value)))
        texts = _as_text(column)
        if self.operator == "=":
            return pc.equal(pc.utf8_lower(texts), self.value.lower())
        return pc.match_substring(texts, self.value, ignore_case=True)


@dataclass(frozen=True)
class RowFilter:
    """A condition on rows; an empty one holds for all."""

    words: tuple[_Word, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The columns that it looks at."""
        return list(dict.fromkeys(name for word in self.words for name in word.columns))

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        """Which rows of ``batch`` it holds for, as booleans; ``batch`` has :attr:`columns`."""
        mask = pa.array([True] * batch.num_rows)
        for word in self.words:
            mask = pc.and_(mask, word.mask(batch))
        return mask


def read_filter(text: str, schema: pa.Schema) -> RowFilter:
    """``text`` as a filter of rows of ``schema``. Raises :class:`FilterError`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise FilterError(f"{error}: {text}") from None
    return RowFilter(tuple(_word(word, schema) for word in words))


def _word(text: str, schema: pa.Schema) -> _Word:
    match = _WORD.fullmatch(text)
    assert match is not None
    negated = bool(match["no"])
    if match["column"] is None:
        if not match["value"]:
            raise FilterError("a ! wants a word behind it")
        return _Word(NAMES, ":", match["value"], negated)
    column, operator, value = match["column"], match["operator"], match["value"]
    if column not in schema.names:
        raise FilterError(f"no column {column!r}{_nearest(column, schema.names)}")
    kind = schema.field(column).type
    if operator in "<>":
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise FilterError(
                f"{column} holds no numbers: write {column}={value} or {column}:{value}"
            )
        try:
            float(value)
        except ValueError:
            raise FilterError(f"{value!r} is no number") from None
    elif not _has_text(kind):
        raise FilterError(f"{column} cannot be compared with a text")
    return _Word((column,), operator, value, negated)


def _has_text(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
    )


def _as_text(column: pa.Array) -> pa.Array:
    """Lists become their elements with spaces between."""
    if pa.types.is_list(column.type):
        return pc.binary_join(column.cast(pa.list_(pa.string())), " ")
    return column.cast(pa.large_string())


def _nearest(name: str, candidates: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, candidates, n=1, cutoff=0.4)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(candidates)}"
