"""Rewards on a cluster: judges in actors, and batches that survive the loss of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

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
        """See :meth:`cass_ray.execute.rewards.judge.RewardJudge.judge`."""
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
        self._idle = [self._actor.remote(make) for _ in range(workers)]
        ray.get([worker.ready.remote() for worker in self._idle])
        self._judging = Lock()

    def rewards(self, items: Sequence[RewardItem]) -> list[RewardVerdict]:
        """A verdict for each of ``items``, in their order; another batch waits."""
        with self._judging:
            return self._batch(items)

    def _batch(self, items: Sequence[RewardItem]) -> list[RewardVerdict]:
        verdicts: list[RewardVerdict | None] = [None] * len(items)
        waiting = [(number, 0) for number in reversed(range(len(items)))]
        running: dict[ray.ObjectRef[RewardVerdict], tuple[int, int, ray.actor.ActorHandle]] = {}
        while waiting or running:
            while waiting and self._idle:
                number, deaths = waiting.pop()
                worker = self._idle.pop()
                running[worker.judge.remote(items[number])] = number, deaths, worker
            [done], _ = ray.wait(list(running))
            number, deaths, worker = running.pop(done)
            try:
                verdicts[number] = ray.get(done)
            except ActorDiedError:
                worker = self._actor.remote(self._make)
                if deaths:
                    verdicts[number] = undecided("two workers died of it")
                else:
                    waiting.append((number, 1))
            except RayTaskError as error:
                verdicts[number] = undecided(f"the judge failed: {error.cause!r}"[:500])
            except RayError as error:
                verdicts[number] = undecided(f"the worker could not be asked: {error}"[:500])
            self._idle.append(worker)
        return [verdict for verdict in verdicts if verdict is not None]
