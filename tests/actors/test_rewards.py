"""Rewards of a cluster: the order of a batch, and workers that die."""

from __future__ import annotations

import os
from pathlib import Path

from cass_ray.execute.rewards.verdicts import Outcome, RewardItem, RewardVerdict


class Fragile:
    """Gives the number that an answer is. ``once``: dies of it where it has not before."""

    def __init__(self, folder: str) -> None:
        self._marker = Path(folder) / "died"

    def judge(self, item: RewardItem) -> RewardVerdict:
        if item.answer == "deadly" or (item.answer == "once" and not self._marker.exists()):
            self._marker.touch()
            os._exit(1)
        if item.answer == "broken":
            raise RuntimeError("out of disk")
        reward = 0.5 if item.answer == "once" else float(item.answer)
        return RewardVerdict(reward=reward, outcome=Outcome.WRONG)


def test_a_worker_that_dies_costs_one_verdict_at_most(node, tmp_path):
    from actors.rewards import ClusterRewards

    cluster = ClusterRewards(lambda: Fragile(str(tmp_path)), 2, cpus=0.5)
    answers = ["0.1", "once", "0.2", "deadly", "broken", "0.3"]
    items = [RewardItem(question="A", answer=answer) for answer in answers]

    verdicts = cluster.rewards(items)

    assert [verdict.reward for verdict in verdicts] == [0.1, 0.5, 0.2, None, None, 0.3]
    assert "out of disk" in verdicts[4].reason
    assert cluster.rewards(items[:1])[0].reward == 0.1
