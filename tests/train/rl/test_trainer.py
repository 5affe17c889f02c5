"""Learning from rewards on a CPU: a real model, decoder and optimizer."""

from __future__ import annotations

import json
import os
import signal
from functools import partial

import pytest
import torch

from cass_ray.execute.rewards.verdicts import Outcome, RewardVerdict, undecided
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.rl.learner import JudgedGroup, Learner, PolicyModel, policy_engine
from cass_ray.train.rl.questions import QuestionChooser
from cass_ray.train.rl.records import read_answers
from cass_ray.train.rl.rollout_process import RolloutProcess
from cass_ray.train.rl.rollouts import Question, Rollout, RolloutsLost
from cass_ray.train.rl.trainer import RlTrainer, fenced, judge_groups
from tests.train.rl.runs import QUESTIONS, SAMPLING, SETTINGS, load, make_rollouts


class Unchanged:
    """Rewards the program as it was: an answer without edits."""

    def rewards(self, items):
        return [
            RewardVerdict(reward=float(item.answer == fenced(item.question)), outcome=Outcome.RIGHT)
            for item in items
        ]


def learner_of(folder, settings=SETTINGS):
    torch.manual_seed(0)
    model, form = load(folder)
    policy = PolicyModel(model, settings, form.end)
    context = DistributedContext(0, 1, torch.device("cpu"))
    engine = policy_engine(policy, settings, context)
    return Learner(policy, engine, form, settings, context)


def trainer_of(folder, out, maker, rewards, settings=SETTINGS):
    return RlTrainer(
        settings,
        learner_of(folder, settings),
        maker,
        rewards,
        QuestionChooser(QUESTIONS, SAMPLING),
        out,
        say=lambda _: None,
    )


def metrics(out):
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("ahead", [0, 1])
def test_what_is_rewarded_becomes_likely(folder, tmp_path, ahead):
    # Single steps go up and down, differently on other processors. Of 16 seeds and lags the mean of
    # the last four steps was 0.96 or more.
    settings = SETTINGS.model_copy(update={"ahead": ahead, "steps": 14})
    trainer = trainer_of(folder, tmp_path, make_rollouts(folder), Unchanged(), settings)
    summary = trainer.run()
    rows = metrics(tmp_path)
    assert summary.steps == len(rows) == settings.steps
    # One of the marks of three lines, or the end: a quarter at first.
    assert rows[0]["reward"] < 0.6
    assert sum(row["reward"] for row in rows[-4:]) / 4 > 0.8
    # Later there are steps whose answers are all rewarded: nothing is learned from them.
    assert [row["behind"] for row in rows[:6]] == [0] + [ahead] * 5


def test_the_first_step_is_on_policy(folder, tmp_path):
    settings = SETTINGS.model_copy(update={"steps": 1})
    trainer_of(folder, tmp_path, make_rollouts(folder), Unchanged(), settings).run()
    [row] = metrics(tmp_path)
    assert row["divergence"] == pytest.approx(0, abs=1e-6)
    assert row["clipped"] == 0


def test_every_answer_is_kept_with_its_reward(folder, tmp_path):
    settings = SETTINGS.model_copy(update={"steps": 1})
    trainer_of(folder, tmp_path, make_rollouts(folder), Unchanged(), settings).run()
    rows = list(read_answers(tmp_path))
    assert len(rows) == SAMPLING.questions * SAMPLING.group
    assert {row["outcome"] for row in rows} == {"right", "no program"}
    for row in rows:
        # The empty answer is judged and rewarded. One that was cut makes no program; one that ends
        # in time, with a line's mark, is judged as well.
        assert row["outcome"] == "right" or row["answer"] != ""
        assert row["reward"] == float(row["answer"] == "")


def test_groups_that_are_alike_change_nothing(folder):
    learner = learner_of(folder)
    groups = make_rollouts(folder).rollouts(QUESTIONS)
    before = {name: tensor.clone() for name, tensor in learner.weights().items()}
    measured = learner.step([JudgedGroup(group, [0.3] * len(group)) for group in groups])
    assert measured["tokens"] == 0
    assert all(torch.equal(before[name], tensor) for name, tensor in learner.weights().items())


class KeepsGradients:
    """An engine that steps nowhere: AdamW would make much of a tiny difference."""

    def __init__(self, policy):
        self.policy = policy

    def accumulate(self, batch, scale, last):
        loss = self.policy(batch)
        loss.backward()
        return loss.detach()

    def update(self, learning_rate):
        return 0.0


@pytest.mark.parametrize("passes", [0, 3])
def test_a_question_that_is_read_once_teaches_the_same(folder, passes):
    groups = [
        JudgedGroup(group, [float(len(rollout.tokens) < 3) for rollout in group])
        for group in make_rollouts(folder).rollouts(QUESTIONS)
    ]
    measures, gradients = [], []
    for share in (False, True):
        settings = SETTINGS.model_copy(update={"share_questions": share})
        model, form = load(folder)
        policy = PolicyModel(model, settings, form.end)
        context = DistributedContext(0, 1, torch.device("cpu"))
        learner = Learner(policy, KeepsGradients(policy), form, settings, context, passes)
        measures.append(learner.step(groups))
        gradients.append({name: item.grad for name, item in policy.named_parameters()})
    assert measures[0]["tokens"] > 40
    assert measures[1] == pytest.approx(measures[0], rel=1e-4, abs=1e-6)
    assert max(float(gradient.abs().max()) for gradient in gradients[0].values()) > 1e-3
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient, rtol=1e-3, atol=1e-6)


def test_an_answer_of_unknown_worth_is_left_out(folder):
    class Undecided(Unchanged):
        def rewards(self, items):
            return [undecided("load") for _ in items]

    groups = make_rollouts(folder).rollouts(QUESTIONS)
    verdicts = judge_groups(groups, Undecided())
    for group, found in zip(groups, verdicts, strict=True):
        for rollout, verdict in zip(group, found, strict=True):
            assert verdict.reward == (0.0 if rollout.code is None else None)


class LosesSecond(Unchanged):
    """Fails in its second batch."""

    batches = 0

    def rewards(self, items):
        self.batches += 1
        if self.batches == 2:
            raise ConnectionError("gone")
        return super().rewards(items)


def test_a_failure_of_the_judge_costs_its_batch_only(folder, tmp_path):
    trainer = trainer_of(folder, tmp_path, make_rollouts(folder), LosesSecond())
    summary = trainer.run()
    assert (summary.steps, summary.lost) == (3, 1)


def test_rollouts_that_always_fail_end_the_run(folder, tmp_path):
    class Broken:
        def use_weights(self, weights):
            pass

        def rollouts(self, questions):
            raise RolloutsLost("no memory")

    with pytest.raises(RolloutsLost, match="no memory"):
        trainer_of(folder, tmp_path, Broken(), Unchanged()).run()


def test_a_process_that_is_killed_costs_its_batch_and_is_started_again(folder):
    maker = RolloutProcess(partial(make_rollouts, folder))
    try:
        learner = learner_of(folder)
        weights = {name: tensor.clone() for name, tensor in learner.weights().items()}
        maker.use_weights(weights)
        first = maker.rollouts(QUESTIONS)
        assert [len(group) for group in first] == [SAMPLING.group] * 2
        os.kill(maker.pid, signal.SIGKILL)
        with pytest.raises(RolloutsLost, match="died"):
            maker.rollouts(QUESTIONS)
        again = maker.rollouts(QUESTIONS)
        assert [group[0].question for group in again] == QUESTIONS
    finally:
        maker.close()


def test_likeliest_answers_are_drawn_within_a_run_with_weights_of_their_own(folder, tmp_path):
    """The weights of the run are drawn with again afterwards."""
    maker = make_rollouts(folder)
    settings = SETTINGS.model_copy(update={"steps": 1})
    trainer = trainer_of(folder, tmp_path, maker, Unchanged(), settings)
    before = maker.greedy(QUESTIONS)
    weights = trainer.learner.weights()
    end = next(name for name in weights if name.endswith("embed_tokens.weight"))
    other = {name: tensor.clone() for name, tensor in weights.items()}
    other[end] = other[end].flip(0)
    with trainer.maker_with(other):
        between = [answer.tokens for answer in maker.greedy(QUESTIONS)]
    after = maker.greedy(QUESTIONS)
    assert [answer.tokens for answer in after] == [answer.tokens for answer in before]
    assert between != [answer.tokens for answer in before]
    assert [answer.question.id for answer in before] == [question.id for question in QUESTIONS]


class Keeps:
    """Keeps what it is asked to judge, and rewards nothing."""

    def __init__(self):
        self.asked = []

    def rewards(self, items):
        self.asked += [(item.question, item.answer) for item in items]
        return [undecided("kept")] * len(items)


def test_answers_are_judged_in_the_words_of_the_question_that_was_asked_in_others():
    asked = [
        Question(f"q{number}~1", "int ovu;", "int ovu;", of=f"q{number}", names={"ovu": name})
        for number, name in enumerate(("first", "second"))
    ]
    codes = ["int ovu = 1;", "int ovu = 2;", None, "int ovu = 1;"]
    groups = [[Rollout(question, [1], [], "", code) for code in codes] for question in asked]
    rewards = Keeps()
    verdicts = judge_groups(groups, rewards)
    assert rewards.asked == [
        (f"int {name};", fenced(f"int {name} = {value};"))
        for name in ("first", "second")
        for value in (1, 2, 1)
    ]
    assert [[v.outcome for v in group] for group in verdicts] == [
        [Outcome.UNDECIDED, Outcome.UNDECIDED, Outcome.NO_CODE, Outcome.UNDECIDED]
    ] * 2
