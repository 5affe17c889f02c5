"""Rollouts in processes of their own, which may be killed."""

from __future__ import annotations

import os
import signal
from functools import partial

import pytest

from cass_ray.train.rl.rollouts_lost import RolloutsLost
from recipes.rl.rollout_process import RolloutProcess
from recipes.rl.shared_rollouts import SharedRollouts
from tests.train.rl.runs import QUESTIONS, SAMPLING, learner_of, make_rollouts


def test_a_process_that_is_killed_costs_what_was_asked_and_is_started_again(folder):
    maker = RolloutProcess(partial(make_rollouts, folder))
    try:
        learner = learner_of(folder)
        weights = {name: tensor.clone() for name, tensor in learner.weights().items()}
        maker.use_weights(weights)
        first = list(maker.rollouts(QUESTIONS))
        assert [len(group) for group in first] == [SAMPLING.group] * 2
        os.kill(maker.pid, signal.SIGSTOP)  # so that it is killed before it can answer
        lost = maker.rollouts(QUESTIONS)
        os.kill(maker.pid, signal.SIGKILL)
        with pytest.raises(RolloutsLost, match="died"):
            list(lost)
        maker.use_weights(weights)  # for the one that comes next
        again = list(maker.rollouts(QUESTIONS))
        assert {group[0].question.id for group in again} == {question.id for question in QUESTIONS}
    finally:
        maker.close()


@pytest.mark.slow  # the merging of streams by itself: test_one_thread.py
def test_a_process_of_several_costs_its_share_only(folder):
    makers = [RolloutProcess(partial(make_rollouts, folder)) for _ in range(2)]
    shared = SharedRollouts(makers)
    try:
        assert len(list(shared.rollouts(QUESTIONS))) == 2
        os.kill(makers[0].pid, signal.SIGSTOP)
        drawn = shared.rollouts(QUESTIONS)
        kept = next(drawn)  # both were asked; one cannot answer
        os.kill(makers[0].pid, signal.SIGKILL)
        assert list(drawn) == []
        alone = [answer.tokens for answer in makers[1].greedy(QUESTIONS)]
        assert [answer.tokens for answer in shared.greedy(QUESTIONS)] == alone
        assert [answer.question for answer in shared.greedy(QUESTIONS)] == QUESTIONS
        assert kept[0].question in QUESTIONS
    finally:
        for maker in makers:
            maker.close()
