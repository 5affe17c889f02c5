"""Losses that are not finite, or that jump."""

import pytest

from cass_ray.train.loss_guard import LossGuard, LossVerdict
from cass_ray.train.settings import GuardSettings


def judged(guard: LossGuard, losses: list[float]) -> list[LossVerdict]:
    return [guard.judge(loss)[0] for loss in losses]


def test_steady_losses_pass():
    assert set(judged(LossGuard(GuardSettings()), [2.0 - 0.01 * n for n in range(100)])) == {
        LossVerdict.GO
    }


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("action", ["skip", "stop"])
def test_a_loss_that_is_not_finite_is_handled_as_configured(bad, action):
    verdict, reason = LossGuard(GuardSettings(not_finite=action)).judge(bad)
    assert verdict == action
    assert str(bad) in reason


@pytest.mark.parametrize("action", ["report", "skip", "stop"])
def test_a_spike_is_measured_against_the_recent_median(action):
    guard = LossGuard(GuardSettings(spike=action, recent=4, factor=2.0))
    assert judged(guard, [1.0, 1.2, 0.8, 1.0, 1.9]) == [LossVerdict.GO] * 5
    verdict, reason = guard.judge(3.0)
    assert verdict == action
    assert "2.7 times the recent 1.1000" in reason  # median of 1.2, 0.8, 1.0, 1.9


def test_a_skipped_spike_does_not_raise_the_bar():
    guard = LossGuard(GuardSettings(spike="skip", recent=4, max_skips=50))
    judged(guard, [1.0] * 4)
    assert set(judged(guard, [5.0] * 20)) == {LossVerdict.SKIP}


def test_too_many_skips_in_a_row_stop_training():
    guard = LossGuard(GuardSettings(max_skips=3))
    verdicts = judged(guard, [float("nan")] * 4)
    assert verdicts == [LossVerdict.SKIP] * 3 + [LossVerdict.STOP]
