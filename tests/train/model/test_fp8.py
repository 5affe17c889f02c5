"""Products in FP8, whose mantissas have 3 bits (e4m3) and 2 (e5m2)."""

import pytest
import torch

from cass_ray.train.model.fp8 import use_fp8


def _both(rows=64):
    torch.manual_seed(0)
    plain = torch.nn.Linear(96, 48, bias=False).bfloat16()
    ours = torch.nn.Linear(96, 48, bias=False).bfloat16()
    ours.load_state_dict(plain.state_dict())
    assert use_fp8([ours]) == 1
    x = torch.randn(2, rows, 96).bfloat16()
    return plain, ours, x


def _distance(found, truth):
    return float((found.float() - truth.float()).norm() / truth.float().norm())


@pytest.mark.parametrize("rows", [64, 37])
def test_values_and_gradients_are_as_near_as_the_formats_allow(rows):
    """Rounding to 3 bits is off by 2^-4 at most, 2.6% root mean square of uniform mantissas."""
    plain, ours, x = _both(rows)
    target = torch.randn(2, rows, 48).bfloat16()
    results = []
    for module in (plain, ours):
        given = x.clone().requires_grad_()
        made = module(given)
        (made * target).sum().backward()
        results.append((made.detach(), given.grad, module.weight.grad))
    for found, truth, most in zip(results[1], results[0], (0.05, 0.08, 0.08), strict=True):
        assert 0.0 < _distance(found, truth) < most


def test_large_and_small_tensors_are_scaled():
    plain, ours, x = _both()
    with torch.no_grad():
        for factor in (1e-6, 1e6):
            assert _distance(ours(x * factor), plain(x * factor)) < 0.05


def test_sides_that_the_hardware_cannot_multiply_stay():
    odd = torch.nn.Sequential(torch.nn.Linear(96, 50, bias=False), torch.nn.Linear(96, 48))
    assert use_fp8([odd]) == 1
    assert type(odd[0]) is torch.nn.Linear  # 50 is no multiple of 16
