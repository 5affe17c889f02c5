"""Judges in several processes: what is done around each program holds an interpreter's lock, so
that the threads of one process keep a few processors busy and no more.
"""

from __future__ import annotations

import math
import multiprocessing
import signal
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Lock

from cass_ray.execute.rewards.judge import LocalRewards
from cass_ray.execute.rewards.verdicts import ItemJudge, RewardItem, RewardVerdict, undecided

THREADS = 4
"""A process has so many threads: with more they wait for one another."""
_OWNERS = 4096
"""Questions of which it is remembered who has measured them."""
_CONTEXT = multiprocessing.get_context("spawn")


class ProcessRewards:
    """A :class:`~cass_ray.execute.rewards.verdicts.Rewarder` of processes.

    ``make`` makes the judge of each and can be pickled; ``workers`` answers are judged at a time. A
    question goes to the process that has measured it, unless that has more to do than others. A
    process that dies leaves what it was to judge undecided, and another takes its place.
    """

    def __init__(self, make: Callable[[], ItemJudge], workers: int) -> None:
        number = math.ceil(workers / THREADS)
        self._judges = [_Judges(make, math.ceil(workers / number)) for _ in range(number)]
        self._pool = ThreadPoolExecutor(8 * number, thread_name_prefix="cass-rewards")
        self._owners: OrderedDict[str, int] = OrderedDict()
        self._lock = Lock()

    def rewards(self, items: Sequence[RewardItem]) -> list[RewardVerdict]:
        """A verdict for each, in their order; several threads may ask."""
        with self._lock:
            shares = self._shares(items)
        waiting = {
            number: self._pool.submit(self._judges[number].rewards, [items[at] for at in share])
            for number, share in shares.items()
        }
        verdicts: dict[int, RewardVerdict] = {}
        for number, share in shares.items():
            verdicts.update(zip(share, waiting[number].result(), strict=True))
        return [verdicts[at] for at in range(len(items))]

    def _shares(self, items: Sequence[RewardItem]) -> dict[int, list[int]]:
        """Which of ``items`` each process judges: about as many as the others."""
        groups: defaultdict[str, list[int]] = defaultdict(list)
        for at, item in enumerate(items):
            groups[item.question].append(at)
        most = math.ceil(len(items) / len(self._judges))
        shares: defaultdict[int, list[int]] = defaultdict(list)
        for question, group in sorted(groups.items(), key=lambda each: -len(each[1])):
            for first in range(0, len(group), most):
                part = group[first : first + most]
                owner = self._owners.get(question)
                if owner is None or len(shares[owner]) + len(part) > most:
                    owner = min(range(len(self._judges)), key=lambda each: len(shares[each]))
                shares[owner] += part
                self._owners[question] = owner
                self._owners.move_to_end(question)
        while len(self._owners) > _OWNERS:
            self._owners.popitem(last=False)
        return {number: share for number, share in shares.items() if share}


class _Judges:
    """One process and its end of a pipe."""

    def __init__(self, make: Callable[[], ItemJudge], threads: int) -> None:
        self._make = make
        self._threads = threads
        self._lock = Lock()
        self._connection = self._start()

    def _start(self) -> Connection:
        ours, theirs = _CONTEXT.Pipe()
        # A daemon of multiprocessing ends with its parent.
        arguments = (theirs, self._make, self._threads)
        _CONTEXT.Process(target=_judge_all, args=arguments, daemon=True).start()
        theirs.close()
        return ours

    def rewards(self, items: list[RewardItem]) -> list[RewardVerdict]:
        with self._lock:
            try:
                self._connection.send(items)
                verdicts: list[RewardVerdict] = self._connection.recv()
            except (EOFError, OSError):
                self._connection.close()
                self._connection = self._start()
                verdicts = [undecided("the judge's process died")] * len(items)
        return verdicts


def _judge_all(connection: Connection, make: Callable[[], ItemJudge], threads: int) -> None:
    """Answer batches until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's matter
    rewarder = LocalRewards(make(), threads)
    with suppress(EOFError, BrokenPipeError):
        while True:
            connection.send(rewarder.rewards(connection.recv()))
