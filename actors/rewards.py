"""Rewards on a cluster: judges in actors, and batches that survive the loss of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import ray
from ray.exceptions import ActorDiedError, RayError, RayTaskError

from cass_ray.execute.rewards.verdicts import ItemJudge, RewardItem, RewardVerdict, undecided


class RewardWorker:
    """An actor that judges one answer at a time."""

    def __init__(self, make: Callable[[], ItemJudge]) -> None:
        self._judge = make()

    def ready(self) -> None:
        """Nothing: whoever waits for it learns that the judge was made."""

    def judge(self, item: RewardItem) -> RewardVerdict:
        return self._judge.judge(item)


class ClusterRewards:
    """A :class:`~cass_ray.execute.rewards.verdicts.Rewarder` of ``workers`` actors.

    ``make`` makes a judge in each, as ``RewardSettings().judge`` does. An item whose worker dies is
    tried on another one; a second death makes it undecided. Raises ``RayError`` where ``make``
    fails.
    """

    def __init__(self, make: Callable[[], ItemJudge], workers: int, cpus: float = 1.0) -> None:
        self._make = make
        self._actor = ray.remote(num_cpus=cpus, max_restarts=0)(RewardWorker)
        actors = [self._actor.remote(make) for _ in range(workers)]
        ray.get([worker.ready.remote() for worker in actors])
        self._idle: Queue[ray.actor.ActorHandle] = Queue()
        for worker in actors:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(workers, "cass-rewards")

    def rewards(self, items: Sequence[RewardItem]) -> list[RewardVerdict]:
        """A verdict for each of ``items``, in their order; several threads may ask."""
        return list(self._threads.map(self._verdict, items))

    def _verdict(self, item: RewardItem) -> RewardVerdict:
        return self._tried(item) or self._tried(item) or undecided("two workers died of it")

    def _tried(self, item: RewardItem) -> RewardVerdict | None:
        """It is None where the worker died; another has its place then."""
        worker = self._idle.get()
        try:
            result: RewardVerdict = ray.get(worker.judge.remote(item))
        except ActorDiedError:
            worker = self._actor.remote(self._make)
            return None
        except RayTaskError as error:
            return undecided(f"the judge failed: {error.cause!r}"[:500])
        except RayError as error:
            return undecided(f"the worker could not be asked: {error}"[:500])
        finally:
            self._idle.put(worker)
        return result
