"""Items made by a thread: in order, errors where they are taken, an end that stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from cass_ray.train.data.ahead import Ahead


def test_items_come_in_order_and_the_end_stays():
    items = Ahead(iter(range(7)), 2, "numbers")

    assert list(items) == [0, 1, 2, 3, 4, 5, 6]
    with pytest.raises(StopIteration):
        next(items)


def test_no_more_is_made_than_is_asked_for():
    asked, made = threading.Semaphore(0), list[int]()

    def numbers() -> Iterator[int]:
        for number in range(10):
            made.append(number)
            asked.release()
            yield number

    items = Ahead(numbers(), 2, "numbers")
    for _ in range(3):  # two wait in the queue, the third for room
        assert asked.acquire(timeout=30)
    assert made == [0, 1, 2]
    assert next(items) == 0
    assert asked.acquire(timeout=30)
    assert made == [0, 1, 2, 3]
    items.stop()


def test_an_error_is_raised_where_the_item_is_taken():
    def numbers() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    items = Ahead(numbers(), 2, "numbers")

    assert next(items) == 1
    with pytest.raises(OSError, match="the disk is gone"):
        next(items)
