"""Judges in processes of their own."""

from __future__ import annotations

import os
import signal
from functools import partial

from cass_ray.execute.rewards.verdicts import Outcome, RewardItem, RewardVerdict
from recipes.rl.reward_processes import ProcessRewards


class Fatal:
    """A judge that one answer kills."""

    def judge(self, item):
        if item.answer == "fatal":
            os.kill(os.getpid(), signal.SIGKILL)
        return RewardVerdict(reward=len(item.answer) / 10, outcome=Outcome.RIGHT)


def test_a_judge_that_dies_costs_its_batch_only():
    def items(*answers):
        return [RewardItem(question="q", answer=answer) for answer in answers]

    rewards = ProcessRewards(partial(Fatal), 1)
    try:
        found = rewards.rewards(items("a", "fatal", "a"))
        assert found[1].outcome is Outcome.UNDECIDED
        assert [each.reward for each in rewards.rewards(items("a", "abc", "a"))] == [0.1, 0.3, 0.1]
    finally:
        rewards.close()
