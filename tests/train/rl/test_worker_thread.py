"""Calls between pieces of work, and streams that are merged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from cass_ray.train.rl.rollouts_lost import RolloutsLost
from cass_ray.train.rl.worker_thread import WorkerThread, merged


def test_a_call_is_made_although_work_never_ends() -> None:
    done, threads = [0], set[int]()

    def work() -> bool:
        done[0] += 1
        threads.add(threading.get_ident())
        return True

    with closing(WorkerThread(work, "works")) as one:
        one.call(lambda: None)
        while not done[0]:
            pass
        assert one.call(threading.get_ident) in threads and len(threads) == 1
        with pytest.raises(KeyError):
            one.call(lambda: {}[1])
        assert one.call(lambda: 2) == 2
    assert threads.isdisjoint(running.ident for running in threading.enumerate())


def lost_after(*items: int) -> Iterator[int]:
    yield from items
    raise RolloutsLost("gone")


def test_a_lost_stream_costs_what_it_had_not_given() -> None:
    assert sorted(merged([lost_after(1, 2), iter([3, 4]), lost_after()])) == [1, 2, 3, 4]


def test_nothing_at_all_is_lost() -> None:
    with pytest.raises(RolloutsLost, match="gone; gone"):
        list(merged([lost_after(), lost_after()]))


def test_another_problem_is_not_passed_over() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(merged([broken(), iter([2])]))
