"""Engines by themselves: dropped steps leave no trace."""

from __future__ import annotations

import os

import pytest
import torch

from cass_ray.train.distributed import DistributedContext
from cass_ray.train.engines.base import TrainingEngine
from cass_ray.train.engines.replicated import ReplicatedEngine
from cass_ray.train.settings import OptimizerSettings, ZeroSettings
from tests.train.group import run_group
from tests.train.model.test_activation_checkpoint import make_batch, make_prepared

SETTINGS = OptimizerSettings(learning_rate=1e-2)


def make_engine(distributed: DistributedContext, stage: int) -> TrainingEngine:
    prepared = make_prepared()
    if stage == 0:
        return ReplicatedEngine(prepared.model, SETTINGS, distributed)
    from cass_ray.train.engines.deepspeed import DeepSpeedEngine

    os.environ["LOCAL_RANK"] = str(distributed.rank)
    zero = ZeroSettings(stage=stage, overlap=False)
    return DeepSpeedEngine(prepared.model, zero, SETTINGS, distributed, accumulation=2)


def losses_with_a_dropped_step(
    distributed: DistributedContext, stage: int, dropped: bool
) -> list[float]:
    """Losses of three steps of two passes; between the first two, one whose gradients are bad."""
    engine = make_engine(distributed, stage)
    batch = make_batch((40, 24))
    scale = 1 / len(batch.targets) / 2 / distributed.world_size
    found = []
    for number in range(3):
        if dropped and number == 1:
            engine.accumulate(batch, 1e6, False)
            engine.accumulate(batch, float("nan"), True)
            engine.zero_grad()
        found.append(float(engine.accumulate(batch, scale, False)))
        engine.accumulate(batch, scale, True)
        engine.update(1e-2)
    return found


def test_a_dropped_step_leaves_no_trace():
    alone = DistributedContext(0, 1, torch.device("cpu"))
    expected = losses_with_a_dropped_step(alone, 0, False)
    assert losses_with_a_dropped_step(alone, 0, True) == expected
    assert expected[2] < expected[0]


@pytest.mark.slow
@pytest.mark.parametrize("stage", [1, 2, 3])
def test_a_dropped_step_leaves_no_trace_under_zero(stage):
    alone = DistributedContext(0, 1, torch.device("cpu"))
    expected = losses_with_a_dropped_step(alone, 0, False)
    for found in run_group(2, losses_with_a_dropped_step, stage, True):
        assert found == pytest.approx(expected, rel=1e-4)
