import pytest
import torch

from recipes.rl.averaged_weights import AveragedWeights


def averaged(decay, values):
    model = torch.nn.Linear(1, 1, bias=False)
    average = AveragedWeights(model, decay)
    for value in values:
        with torch.no_grad():
            model.weight.fill_(value)
        average.add()
    return average.weights()["weight"].item()


def test_the_first_steps_count_alike_and_later_ones_by_the_decay():
    assert averaged(0.75, [2.0, 4.0, 9.0]) == pytest.approx(5.0)  # their mean
    assert averaged(0.75, [4.0, 4.0, 4.0, 4.0, 8.0]) == pytest.approx(5.0)  # 3/4 of 4, 1/4 of 8


def test_without_a_decay_it_is_the_weights():
    assert averaged(0.0, [2.0, 7.0]) == 7.0


def test_before_any_step_it_is_the_model():
    model = torch.nn.Linear(2, 2).bfloat16()
    made = AveragedWeights(model, 0.9).weights()
    assert made["bias"].dtype == torch.bfloat16
    assert torch.equal(made["weight"], model.weight)
