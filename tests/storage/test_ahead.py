"""Requests that do not wait for each other."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from cass_ray.storage.ahead import in_order


def test_results_come_in_the_order_of_what_was_asked() -> None:
    later = threading.Event()

    def work(number: int) -> int:
        if number == 0:
            assert later.wait(timeout=60), "the first waits for the last: they run side by side"
        if number == 3:
            later.set()
        return number * number

    assert list(in_order(work, range(4))) == [0, 1, 4, 9]


def test_no_more_are_begun_than_said() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    results = in_order(abs, items(), 3)
    assert next(results) == 0
    assert taken == [0, 1, 2]
    assert next(results) == 1
    assert taken == [0, 1, 2, 3]
    results.close()
    assert taken == [0, 1, 2, 3]


def test_what_fails_is_raised_in_its_turn_and_nothing_begins_after_it() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    found: list[int] = []
    with pytest.raises(ZeroDivisionError):
        found.extend(in_order(lambda number: 12 // (2 - number), items(), 2))
    assert found == [6, 12]
    assert taken == [0, 1, 2, 3]


def test_work_may_itself_ask_for_many() -> None:
    def outer(number: int) -> int:
        return sum(in_order(abs, range(number)))

    assert list(in_order(outer, range(40))) == [n * (n - 1) // 2 for n in range(40)]
