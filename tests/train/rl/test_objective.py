"""Two groups and three tokens, computed by hand."""

import math

import pytest
import torch

from cass_ray.train.rl.objective import advantages, answer_weights, policy_loss
from cass_ray.train.rl.settings import ObjectiveSettings

NAN = float("nan")


def objective(kind: str, **more: float) -> ObjectiveSettings:
    return ObjectiveSettings.model_validate({"kind": kind, **more})


def test_advantages_are_deviations_from_the_group_in_its_standard_deviations():
    rewards = torch.tensor([[1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    found = advantages(rewards, objective("grpo"))
    # Mean 0.5, population deviation 0.5; the second group has none.
    torch.testing.assert_close(
        found, torch.tensor([[1.0, -1.0, -1.0, 1.0], [0.0] * 4]), rtol=1e-5, atol=0
    )


def test_dr_grpo_keeps_the_scale_of_the_rewards():
    found = advantages(torch.tensor([[0.9, 0.1, 0.2]]), objective("dr-grpo"))
    torch.testing.assert_close(found, torch.tensor([[0.5, -0.3, -0.2]]))


def test_an_unknown_reward_neither_has_an_advantage_nor_gives_one():
    found = advantages(torch.tensor([[1.0, NAN, 0.0], [NAN, NAN, 1.0]]), objective("dapo"))
    torch.testing.assert_close(
        found, torch.tensor([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0]]), rtol=1e-5, atol=0
    )


@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        ("grpo", [1 / 2, 1 / 4]),  # two answers; 1 / (2 * 1) and 1 / (2 * 2)
        ("dapo", [1 / 3, 1 / 3]),  # three tokens in all
        ("dr-grpo", [1 / 20, 1 / 20]),  # two answers of at most ten tokens
    ],
)
def test_tokens_are_weighed_as_the_variant_says(kind, weights):
    found = answer_weights(torch.tensor([1, 2]), objective(kind), longest=10)
    torch.testing.assert_close(found, torch.tensor(weights))


def test_the_loss_is_clipped_where_the_ratio_went_too_far_in_its_direction():
    # Ratios 1.5, 0.5 and 1.5; advantages 1, -1 and -1; clip 0.2 below, 0.28 above.
    ratio = torch.tensor([1.5, 0.5, 1.5])
    new = ratio.log().requires_grad_()
    made = policy_loss(
        new,
        torch.zeros(3),
        torch.tensor([1.0, -1.0, -1.0]),
        torch.tensor([0.5, 0.25, 0.25]),
        objective("dapo"),
    )
    # min(1.5, 1.28) = 1.28; min(-0.5, -0.8) = -0.8; min(-1.5, -1.28) = -1.5
    assert made.loss.item() == pytest.approx(-(0.5 * 1.28 - 0.25 * 0.8 - 0.25 * 1.5))
    assert made.clipped.item() == 2
    # E[r - 1 - ln r] with r = new / old
    wanted = sum(r - 1 - math.log(r) for r in (1.5, 0.5, 1.5))
    assert made.divergence.item() == pytest.approx(wanted)
    made.loss.backward()
    # Clipped tokens have no gradient; the third has ratio * weight, for its advantage is -1.
    torch.testing.assert_close(new.grad, torch.tensor([0.0, 0.0, 1.5 * 0.25]))


def test_on_policy_the_gradient_is_that_of_reinforce():
    new = torch.tensor([-0.3, -2.0], requires_grad=True)
    made = policy_loss(
        new, new.detach().clone(), torch.tensor([2.0, -1.0]), torch.tensor([0.5, 0.5]),
        objective("grpo"),
    )  # fmt: skip
    made.loss.backward()
    torch.testing.assert_close(new.grad, torch.tensor([-1.0, 0.5]))


def test_the_divergence_from_the_first_model_is_added():
    new, reference = torch.tensor([-1.0]), torch.tensor([-1.5])
    made = policy_loss(
        new, new, torch.zeros(1), torch.ones(1), objective("grpo", kl=0.1), reference
    )
    # k3: exp(d) - d - 1 with d = reference - new = -0.5
    assert made.loss.item() == pytest.approx(0.1 * (math.exp(-0.5) + 0.5 - 1))
