"""The data that a program brings back from the device, compared with what its original brings back.

A program that prints PASS alone tells nothing of its results; what it copies back does. The record
is the device process's (:mod:`cass_ray.emulator.transcript`), which the program cannot reach.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from cass_ray.emulator.transcript import Movement, Transcript
from cass_ray.execute.comparison.compare import BF16, F16, F64, Tolerance

_SMALLEST, _LARGEST = 1e-30, 1e30
"""Numbers beyond these are taken for something else than floats."""
_KINDS = ("f8", "f4")
_WORD = 4
_ADDRESSES = (1 << 40, 1 << 47)
"""Where device memory lies; addresses differ from program to program."""


class DataVerdict(StrEnum):
    """How the returned data of two programs compare."""

    SAME = "same"
    DIFFERENT = "different"
    UNKNOWN = "unknown"
    """They are not moved in the same way, or too much of it for the record."""


@dataclass(frozen=True)
class DataComparison:
    """``compared`` counts the bytes that kernels wrote and both programs brought back alike."""

    verdict: DataVerdict
    compared: int = 0
    difference: str = ""
    size: float = 0.0
    """How large the floats are that the original brings back: their median, zeros apart."""

    @property
    def same(self) -> bool:
        """Whether something came back, and it is the same."""
        return self.verdict is DataVerdict.SAME and self.compared > 0

    @property
    def same_as_far_as_kept(self) -> bool:
        """Whether it is the same where it was kept: no evidence, but numbers that a program makes
        of it may differ by their rounding."""
        return self.verdict is not DataVerdict.DIFFERENT and self.compared > 0


def aligned(one: Transcript, other: Transcript) -> bool:
    """Whether two programs move the same amounts between the same places.

    They may launch another number of kernels: libraries of both vendors sort in other steps.
    What comes back as the host left it, such as what a variable starts with, may be read by one of
    them alone.
    """
    return _places(one.to_device) == _places(other.to_device) and (
        _places(one.to_host) == _places(other.to_host)
        or _places(_written(one)) == _places(_written(other))
    )


def brings_back_part_of_a_word(reference: Transcript, candidate: Transcript) -> bool:
    """Whether ``candidate`` brings back a part of a word that ``reference`` brings back whole.

    A copy of half an integer is right for as long as the integer is small.
    """
    whole = {(each.key, each.offset): each.size for each in _written(reference)}
    reached: dict[int, int] = {}
    for each in candidate.to_host:
        end = each.offset + each.size
        reached[each.key] = max(reached.get(each.key, 0), end)
    return any(
        each.size < whole.get((each.key, each.offset), 0)
        and each.size % _WORD
        and not whole[each.key, each.offset] % _WORD
        and reached[each.key] == each.offset + each.size
        for each in candidate.to_host
    )


def compare_returned(
    references: Sequence[Transcript], candidate: Transcript, tolerance: Tolerance
) -> DataComparison:
    """Compare what ``candidate`` brings back with runs of the original.

    Bytes in which the original's own runs differ are free. Numbers agree within ``tolerance`` as
    floats of one of its types; lists may be in another order. What no kernel wrote in either
    program tells nothing. Nor do numbers that differ by no more than the rounding of the largest
    ones that the original brings back: they may be the differences of such numbers.
    """
    first = references[0]
    if not all(aligned(first, each) for each in (*references[1:], candidate)):
        return DataComparison(DataVerdict.UNKNOWN, difference="data moves in another way")
    compared, unknown = 0, ""
    rows = [_by_place(each) for each in (*references, candidate)]
    kinds = _KINDS if tolerance.name == F64.name else _KINDS[::-1]
    largest = _Largest(first, kinds)
    for place, movements in rows[0].items():
        for index, movement in enumerate(movements):
            others = [row[place][index] for row in rows[1:] if index < len(row.get(place, ()))]
            if len(others) < len(rows) - 1 or not any(e.written for e in (movement, *others)):
                continue
            theirs = others[-1]
            if theirs.digest != movement.digest:
                if any(each.data is None for each in (movement, *others)):
                    unknown = "too much to keep"
                    continue
                own = [movement, *others[:-1]]
                if _varies(own, tolerance, {}):
                    continue  # other data in each run: it shows nothing
                if said := _difference(own, theirs, tolerance, {}):
                    if not _difference(own, theirs, tolerance, largest.by_kind):
                        continue
                    if _tiny_numbers_alone_differ(own, theirs, tolerance):
                        unknown = "numbers that may be small integers or tiny floats differ"
                        continue
                    message = f"{said} in {movement.size} bytes that come back from the device"
                    return DataComparison(DataVerdict.DIFFERENT, compared, message)
            compared += movement.written
    verdict = DataVerdict.UNKNOWN if unknown else DataVerdict.SAME
    return DataComparison(verdict, compared, unknown, _median(first, kinds))


def varying_share(one: Transcript, other: Transcript, tolerance: Tolerance) -> float:
    """The share of the bytes that kernels wrote and two runs of a program brought back which differ
    by more than rounding. It is 0 where data move in another way, or were not kept."""
    if not aligned(one, other):
        return 0.0
    kinds = _KINDS if tolerance.name == F64.name else _KINDS[::-1]
    largest = _Largest(one, kinds)
    rows = _by_place(other)
    whole = varying = 0
    for place, movements in _by_place(one).items():
        for movement, theirs in zip(movements, rows.get(place, ()), strict=False):
            whole += movement.written
            if movement.digest == theirs.digest or None in (movement.data, theirs.data):
                continue
            if _varies([movement, theirs], tolerance, largest.by_kind):
                varying += movement.written
    return varying / whole if whole else 0.0


def _varies(own: Sequence[Movement], tolerance: Tolerance, largest: Mapping[str, float]) -> bool:
    """Whether runs of one program differ there by more than rounding."""
    first, *others = own
    return any(_difference([first], each, tolerance, largest) for each in others)


class _Largest:
    """The largest number that a program brings back, by the type of floats."""

    def __init__(self, transcript: Transcript, kinds: Sequence[str]) -> None:
        self._transcript = transcript
        self._kinds = kinds

    @functools.cached_property
    def by_kind(self) -> dict[str, float]:
        sizes = dict.fromkeys(_KINDS, 0.0)
        for kind, values in _floats(self._transcript, self._kinds):
            sizes[kind] = max(sizes[kind], float(values.max()))
        return sizes


def _floats(
    transcript: Transcript, kinds: Sequence[str]
) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
    """The type and the sizes of floats that kernels wrote and that come back.

    ``kinds`` are types, the first of them that the data may be of is taken: two floats make a
    plausible double, two halves of a double with few digits a plausible float.
    """
    for movement in _written(transcript):
        for kind in kinds:
            if movement.data is None or movement.size % np.dtype(kind).itemsize:
                continue
            values = _as_doubles(np.frombuffer(movement.data, np.uint8), np.dtype(kind))
            values = values[np.isfinite(values)]
            if len(values) and _plausible(values):
                yield kind, np.abs(values)
                break


def _median(transcript: Transcript, kinds: Sequence[str]) -> float:
    sizes = [values[values > 0] for _, values in _floats(transcript, kinds)]
    together = np.concatenate(sizes) if sizes else np.empty(0)
    return float(np.median(together)) if len(together) else 0.0


def _written(transcript: Transcript) -> list[Movement]:
    return [each for each in transcript.to_host if each.written]


def _places(movements: Sequence[Movement]) -> list[tuple[int, int, int]]:
    return sorted((each.key, each.offset, each.size) for each in movements)


def _by_place(transcript: Transcript) -> dict[tuple[int, int, int], list[Movement]]:
    """Streams may move data in another order; what moves from one place does so in turn."""
    rows: dict[tuple[int, int, int], list[Movement]] = {}
    for each in transcript.to_host:
        rows.setdefault((each.key, each.offset, each.size), []).append(each)
    return rows


def _difference(
    own: Sequence[Movement], other: Movement, tolerance: Tolerance, largest: Mapping[str, float]
) -> str:
    """Where the data differ; empty where they agree."""
    arrays = [np.frombuffer(each.data or b"", np.uint8) for each in own]
    theirs = np.frombuffer(other.data or b"", np.uint8)
    free = np.zeros(len(theirs), bool)
    for each in arrays[1:]:
        free |= arrays[0] != each
    for kind in ("f8", "f4", *(("f2",) if tolerance.name == F16.name else ())):
        scale = largest.get(kind, 0.0)
        if _agree_as(arrays[0], theirs, free, np.dtype(kind), tolerance, scale):
            return ""
    if tolerance.name == BF16.name and len(theirs) % 2 == 0:
        # The upper half of a float has its sign, its exponent and seven bits.
        own_floats, their_floats = _as_floats(arrays[0]), _as_floats(theirs)
        if _agree_as(own_floats, their_floats, np.repeat(free, 2), np.dtype("f4"), tolerance):
            return ""
    if _same_addresses(arrays[0], theirs, free):
        return ""
    for width in (4, 8):
        if _same_in_any_order(arrays[0], theirs, width):
            return ""
    places = np.flatnonzero((arrays[0] != theirs) & ~free)
    if not len(places):
        return ""
    at = int(places[0]) // 4 * 4
    values = [each[at : at + 4].tobytes() for each in (arrays[0], theirs)]
    shown = [f"{each.hex()} ({_as_float(each):g} as a float)" for each in values]
    return f"{shown[1]} instead of {shown[0]} at byte {other.offset + at}"


def _tiny_numbers_alone_differ(
    own: Sequence[Movement], other: Movement, tolerance: Tolerance
) -> bool:
    """Whether most are floats that agree, and the rest are none, or smaller than floats are.

    A small integer is a tiny float by its bits: what differs there tells nothing either way.
    """
    one, two = (np.frombuffer(each.data or b"", np.uint8) for each in (own[0], other))
    free = np.zeros(len(two), bool)
    for kind in map(np.dtype, _KINDS):
        if len(one) != len(two) or len(one) % kind.itemsize:
            continue
        a, b = (_as_doubles(each, kind) for each in (one, two))
        told = ~((np.abs(a) < _SMALLEST) & (np.abs(b) < _SMALLEST))
        if 2 * int(told.sum()) < int(np.count_nonzero(a)) or not told.any():
            continue
        rows = np.repeat(told, kind.itemsize)
        if _agree_as(one[rows], two[rows], free[rows], kind, tolerance):
            return True
    return False


def _as_floats(halves: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return (halves.view(np.uint16).astype(np.uint32) << 16).view(np.uint8)


def _as_float(data: bytes) -> float:
    return float(np.frombuffer(data.ljust(4, bytes(1)), np.float32)[0])


def _agree_as(
    one: npt.NDArray[np.uint8],
    two: npt.NDArray[np.uint8],
    free: npt.NDArray[np.bool_],
    kind: np.dtype[Any],
    tolerance: Tolerance,
    largest: float = 0.0,
) -> bool:
    size = kind.itemsize
    if len(one) % size:
        return False
    a, b = (_as_doubles(each, kind) for each in (one, two))
    skipped = free.reshape(-1, size).any(axis=1)
    a, b = a[~skipped], b[~skipped]
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)):
        return False
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return False
    a, b = a[finite], b[finite]
    if not (_plausible(a) and _plausible(b)):
        return False
    scale = float(np.abs(a).max(initial=largest))
    allowed = np.maximum(np.abs(a) * tolerance.relative, scale * tolerance.absolute)
    return bool((np.abs(a - b) <= allowed).all())


def _as_doubles(data: npt.NDArray[np.uint8], kind: np.dtype[Any]) -> npt.NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # signaling numbers among what may be no floats
        return data.view(kind).astype(np.float64)


def _plausible(values: npt.NDArray[np.float64]) -> bool:
    sizes = np.abs(values[values != 0])
    return bool(((sizes >= _SMALLEST) & (sizes <= _LARGEST)).all())


def _same_addresses(
    one: npt.NDArray[np.uint8], two: npt.NDArray[np.uint8], free: npt.NDArray[np.bool_]
) -> bool:
    """Whether all that differs are addresses of device memory."""
    if len(one) % 8:
        return False
    a, b = (each.view(np.uint64) for each in (one, two))
    differ = (a != b) & ~free.reshape(-1, 8).any(axis=1)
    low, high = _ADDRESSES
    return bool(all(((each[differ] >= low) & (each[differ] < high)).all() for each in (a, b)))


def _same_in_any_order(one: npt.NDArray[np.uint8], two: npt.NDArray[np.uint8], width: int) -> bool:
    if len(one) % width:
        return False
    kind = np.uint32 if width == 4 else np.uint64
    return bool(np.array_equal(np.sort(one.view(kind)), np.sort(two.view(kind))))
