"""Ray Train's callbacks with and without those that watch over a cluster."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("ray.train.v2.api.data_parallel_trainer")

from ray.train import ScalingConfig
from ray.train.torch import TorchTrainer

from actors.lean_train import LeanTrainer

WATCHERS = {"PlacementGroupCleanerCallback", "DatasetsCallback"}


def callbacks(trainer: type[TorchTrainer]) -> set[str]:
    made = trainer(lambda _: None, scaling_config=ScalingConfig(num_workers=1))
    return {type(each).__name__ for each in made._create_default_callbacks()}


def test_what_watches_over_a_cluster_is_left_out_and_nothing_else() -> None:
    whole = callbacks(TorchTrainer)
    assert whole >= WATCHERS
    assert callbacks(LeanTrainer) == whole - WATCHERS
