"""Workers that draw answers: shares, weights, and one that is killed."""

from __future__ import annotations

import dataclasses
import os
import signal
import time

import pytest
import ray
import torch

from cass_ray.train.rl.rollouts import EditQuestion, Rollout
from cass_ray.train.rl.rollouts_lost import RolloutsLost

QUESTIONS = [EditQuestion(f"q{number}", f"int a{number};") for number in range(5)]


class Numbered:
    """Answers with the process it is in and the weight it was given."""

    def __init__(self, number):
        self._weight = 0.0

    def use_weights(self, weights):
        self._weight = float(weights["w"])

    def rollouts(self, questions):
        for question in questions:
            yield [Rollout(question, [os.getpid()], [self._weight], "", question.cuda)]


def drawn(stream):
    """Names of the questions, processes and weights of the answers."""
    groups = list(stream)
    return (
        {group[0].question.id for group in groups},
        {group[0].tokens[0] for group in groups},
        {group[0].log_probs[0] for group in groups},
    )


def test_a_worker_that_is_killed_costs_its_share_and_is_replaced(node):
    from actors.rl import ClusterRollouts

    maker = ClusterRollouts(Numbered, 2, cpus=0.5, gpus=0)
    maker.use_weights({"w": torch.tensor(3.0)})
    names, processes, weights = drawn(maker.rollouts(QUESTIONS))
    assert (len(names), len(processes), weights) == (5, 2, {3.0})

    os.kill(processes.pop(), signal.SIGKILL)
    left, [alive], _ = drawn(maker.rollouts(QUESTIONS))
    assert 2 <= len(left) <= 3
    assert processes == {alive}

    names, processes, weights = drawn(maker.rollouts(QUESTIONS))
    assert (len(names), len(processes), weights) == (5, 2, {3.0})


def test_without_a_share_the_batch_is_lost(node):
    from actors.rl import ClusterRollouts

    maker = ClusterRollouts(Numbered, 1, cpus=0.5, gpus=0)
    [worker] = maker.workers
    ray.kill(worker)
    with pytest.raises(RolloutsLost, match="no worker drew answers"):
        list(maker.rollouts(QUESTIONS))
    assert len(list(maker.rollouts(QUESTIONS))) == 5


class Waits(Numbered):
    """Gives its second group when it has been given weights."""

    def rollouts(self, questions):
        first, second = super().rollouts(questions)
        yield first
        until = time.monotonic() + 30
        while not self._weight and time.monotonic() < until:
            time.sleep(0.05)
        yield [dataclasses.replace(second[0], log_probs=[self._weight])]


def test_groups_come_one_by_one_and_weights_while_others_are_drawn(node):
    from actors.rl import ClusterRollouts

    maker = ClusterRollouts(Waits, 1, cpus=0.5, gpus=0)
    stream = maker.rollouts(QUESTIONS[:2])
    assert next(stream)[0].log_probs == [0.0]
    maker.use_weights({"w": torch.tensor(3.0)})
    assert [group[0].log_probs for group in stream] == [[3.0]]
