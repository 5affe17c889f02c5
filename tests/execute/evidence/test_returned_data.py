"""Data that come back are compared as far as they were kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cass_ray.emulator.transcript import Movement, MovementKind, Transcript
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.comparison.compare import F32, F64, Tolerance
from cass_ray.execute.evidence.returned_data import DataVerdict, compare_returned
from cass_ray.execute.references import ReferenceRun

ONES = np.ones(64, np.float32)
ROUNDED = np.nextafter(ONES, np.float32(2))
WRONG = ONES * 3


def returned(*arrays: np.ndarray, kept: int) -> Transcript:
    """A run that brings back ``arrays``; the data of the first ``kept`` of them are known."""
    movements = [
        Movement(
            MovementKind.TO_HOST,
            key=number,
            offset=0,
            size=each.nbytes,
            written=each.nbytes,
            digest=hash(each.tobytes()),
            data=each.tobytes() if number < kept else None,
        )
        for number, each in enumerate(arrays)
    ]
    return Transcript(tuple(movements), ("kernel",))


@pytest.mark.parametrize(
    ("original", "port", "kept", "verdict", "as_far_as_kept"),
    [
        ([ONES, ONES], [ROUNDED, ROUNDED], 2, DataVerdict.SAME, True),
        ([ONES, ONES], [ROUNDED, ROUNDED], 1, DataVerdict.UNKNOWN, True),
        ([ONES, ONES], [ROUNDED, ONES], 1, DataVerdict.SAME, True),  # a digest tells what is equal
        ([ONES, ONES], [ROUNDED, WRONG], 1, DataVerdict.UNKNOWN, True),
        ([ONES, ONES], [WRONG, ROUNDED], 1, DataVerdict.DIFFERENT, False),
        ([ONES, ONES], [ROUNDED, ROUNDED], 0, DataVerdict.UNKNOWN, False),
        ([ONES, ONES], [ROUNDED, ROUNDED[:32]], 1, DataVerdict.UNKNOWN, False),
    ],
)
def test_what_was_kept_is_compared(
    original: list[np.ndarray],
    port: list[np.ndarray],
    kept: int,
    verdict: DataVerdict,
    as_far_as_kept: bool,
) -> None:
    found = compare_returned([returned(*original, kept=kept)], returned(*port, kept=kept), F32)
    assert found.verdict is verdict
    assert found.same_as_far_as_kept is as_far_as_kept
    assert found.same is (verdict is DataVerdict.SAME)


@pytest.mark.parametrize("value", [1.0, 5.0, 0.25, 300.0, 1e-3, 12345.678])
@pytest.mark.parametrize(("kind", "tolerance"), [(np.float32, F32), (np.float64, F64)])
def test_rounding_is_that_of_the_numbers_that_come_back(
    value: float, kind: type[np.floating], tolerance: Tolerance
) -> None:
    data = np.full(64, value, kind)
    found = compare_returned(
        [returned(data, ONES, kept=1)], returned(data, ROUNDED, kept=1), tolerance
    )
    assert found.size == pytest.approx(value)


DECAY = np.exp(-0.25 * np.arange(400)).astype(np.float32)  # to denormal numbers
NEXT = np.nextafter(DECAY, np.float32(1))
COUNTS = np.arange(1, 401, dtype=np.int32).view(np.float32)


def changed(array: np.ndarray, at: int, value: float) -> np.ndarray:
    made = array.copy()
    made[at] = value
    return made


@pytest.mark.parametrize(
    ("original", "port", "verdict"),
    [
        (DECAY, NEXT, DataVerdict.SAME),
        (DECAY, np.where(np.abs(NEXT) < 1e-37, 0, NEXT).astype(np.float32), DataVerdict.SAME),
        (DECAY, changed(NEXT, 40, 0.5), DataVerdict.DIFFERENT),
        (DECAY, changed(NEXT, 390, 0.5), DataVerdict.DIFFERENT),
        (COUNTS, np.roll(COUNTS, 1) + COUNTS, DataVerdict.DIFFERENT),  # integers, all tiny
        (COUNTS, changed(COUNTS, 7, 3e-44), DataVerdict.DIFFERENT),
    ],
)
def test_floats_that_are_too_small_to_be_told_from_integers_tell_nothing(
    original: np.ndarray, port: np.ndarray, verdict: DataVerdict
) -> None:
    found = compare_returned([returned(original, kept=1)], returned(port, kept=1), F32)
    assert found.verdict is verdict
    assert found.same is False


def sent(*arrays: np.ndarray) -> Transcript:
    made = returned(*arrays, kept=0)
    movements = [replace(each, kind=MovementKind.TO_DEVICE) for each in made.movements]
    return Transcript(tuple(movements), ("kernel",))


@pytest.mark.parametrize(
    ("one", "other", "drawn"),
    [
        ([ONES], [WRONG], True),
        ([ONES], [ONES], False),
        ([ONES, ONES, ONES[:4]], [ONES, ONES, WRONG[:4]], False),  # a small part: a time, a name
        ([ONES, ONES], [WRONG, ONES], True),
        ([ONES], [WRONG[:32]], False),  # it moves otherwise
        ([], [], False),
    ],
)
def test_a_program_draws_its_inputs_where_half_of_them_differ_from_run_to_run(
    one: list[np.ndarray], other: list[np.ndarray], drawn: bool
) -> None:
    runs = sent(*one), sent(*other)
    run = ReferenceRun(Inputs(), (b"", b""), 0, None, transcripts=runs)
    assert run.draws_inputs is drawn
    assert replace(run, transcripts=runs[:1]).draws_inputs is False
