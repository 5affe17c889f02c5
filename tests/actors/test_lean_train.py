"""Ray Train's callbacks with and without those that watch over a cluster."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
trainers = pytest.importorskip("ray.train.v2.api.data_parallel_trainer")

from actors.lean_train import without_watchers  # noqa: E402

WATCHERS = {"PlacementGroupCleanerCallback", "DatasetsCallback"}


def callbacks() -> set[str]:
    from ray.train import ScalingConfig
    from ray.train.torch import TorchTrainer

    trainer = TorchTrainer(lambda _: None, scaling_config=ScalingConfig(num_workers=1))
    return {type(each).__name__ for each in trainer._create_default_callbacks()}


def test_what_watches_over_a_cluster_is_left_out_and_nothing_else() -> None:
    whole = callbacks()
    assert whole >= WATCHERS
    with without_watchers():
        lean = callbacks()
    assert lean - {"RayTrainCallback"} == whole - WATCHERS
    assert callbacks() == whole
