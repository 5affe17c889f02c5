"""Two learners do what one does: replicated, and with ZeRO-2."""

from __future__ import annotations

import os

import pytest
import torch

from cass_ray.train.rl.group import LeadingLearner, follow
from cass_ray.train.rl.learner import JudgedGroup, Learner, PolicyModel, policy_engine
from cass_ray.train.settings import ZeroSettings
from tests.train.group import run_group
from tests.train.rl.runs import QUESTIONS, SETTINGS, load, make_rollouts


def judged(folder):
    """Groups of mixed rewards, the same in every process."""
    torch.manual_seed(0)
    groups = list(make_rollouts(folder).rollouts(QUESTIONS))
    return [
        JudgedGroup(group, [float(len(rollout.tokens) < 3) for rollout in group])
        for group in groups
    ]


def learned(distributed, folder, stage, passes):
    """Measures of a step, and the weights that came of it; of followers nothing."""
    torch.manual_seed(0)
    os.environ["LOCAL_RANK"] = str(distributed.rank)  # DeepSpeed asks for it
    model, form = load(folder)
    policy = PolicyModel(model, SETTINGS, form.end)
    zero = ZeroSettings(stage=stage, overlap=False, bucket_elements=10000)
    engine = policy_engine(policy, SETTINGS, distributed, zero, passes)
    learner = Learner(policy, engine, form, SETTINGS, distributed, passes)
    if not distributed.is_main:
        follow(learner)
        return None
    leader = LeadingLearner(learner, distributed)
    measured = leader.step(judged(folder))
    weights = {name: tensor.clone() for name, tensor in leader.weights().items()}
    leader.end()
    return measured, weights


@pytest.fixture(scope="module")
def alone(folder):
    [result] = run_group(1, learned, folder, 0, 0)
    return result


@pytest.mark.parametrize(
    ("stage", "passes"),
    [
        pytest.param(0, 0, marks=pytest.mark.slow),
        pytest.param(0, 3, marks=pytest.mark.slow),
        (2, 3),
    ],
)
def test_two_learners_do_what_one_does(folder, alone, stage, passes):
    if stage:
        pytest.importorskip("deepspeed")
    (measured, weights), nothing = run_group(2, learned, folder, stage, passes)
    assert nothing is None
    before = load(folder)[0].state_dict()
    assert measured["tokens"] > 20
    for name in ("loss", "norm", "entropy", "tokens"):
        assert measured[name] == pytest.approx(alone[0][name], rel=1e-4, abs=1e-6), name
    for name, tensor in alone[1].items():
        # Adam's first step is the sign of a gradient, which may differ where there is hardly any.
        same = torch.isclose(weights[name], tensor, rtol=1e-3, atol=1e-4).float().mean()
        assert same > 0.998, name
        assert not torch.equal(tensor, before[name])
