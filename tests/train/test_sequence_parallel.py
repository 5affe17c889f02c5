"""Workers that share every window compute what one computes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from cass_ray.llm.pretrained import ModelError
from cass_ray.train.data.collate import share_of
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.model.build import fresh_config
from cass_ray.train.model.sequence_parallel import check_heads
from cass_ray.train.settings import FreshModel, TrainSettings
from tests.train.conftest import tiny_settings
from tests.train.group import run_group
from tests.train.model.test_activation_checkpoint import make_batch, make_prepared
from tests.train.runs import ALONE, changed, train, with_data


def settings_of(folder: Path, pairs: Path) -> TrainSettings:
    return with_data(
        tiny_settings(
            folder,
            pairs,
            steps=6,
            evaluation={"every": 3, "max_windows": 3},
            model__fresh__num_attention_heads=4,
            model__fresh__num_key_value_heads=2,
        )
    )


@pytest.mark.parametrize(
    ("workers", "stage"),
    [(2, 3), *(pytest.param(*given, marks=pytest.mark.slow) for given in ((2, 0), (4, 2)))],
)
def test_losses_and_gradients_are_those_of_one_worker(
    tmp_path: Path, pairs_folder: Path, workers: int, stage: int
) -> None:
    pytest.importorskip("deepspeed")
    alone = settings_of(tmp_path / "alone", pairs_folder)
    [expected] = train(ALONE, alone)
    shared = changed(
        settings_of(tmp_path / "shared", pairs_folder),
        zero__stage=stage,
        workers__number=workers,
        workers__sequence_parallel=2,
    )
    for [record] in run_group(workers, train, shared):
        for (step, loss, norm), (number, wanted, length) in zip(record, expected, strict=True):
            assert step == number
            assert loss == pytest.approx(wanted, rel=1e-4)
            assert norm == pytest.approx(length, rel=1e-3)


def test_shares_hold_every_token_and_prediction_once() -> None:
    batch = make_batch((17, 30, 9))
    shares = [share_of(batch, DistributedContext(rank, 3, ALONE.device, 3)) for rank in range(3)]
    assert [share.tokens for share in shares] == [19, 19, 19]  # 56 and one of padding
    assert all(sum(share.lengths) == 57 for share in shares)
    ids = torch.cat([share.input_ids for share in shares], 1)
    assert ids[:, :56].equal(batch.input_ids)
    places = torch.cat([share.predictors + 19 * rank for rank, share in enumerate(shares)])
    assert places.equal(batch.predictors)
    assert torch.cat([share.targets for share in shares]).equal(batch.targets)


def test_a_share_without_answers_has_no_loss_and_a_gradient_of_zero() -> None:
    model = make_prepared().model
    none = torch.zeros(0, dtype=torch.int64)
    loss = model(replace(make_batch((17,)), predictors=none, targets=none))
    loss.backward()
    gradients = [p.grad for p in model.parameters()]
    assert float(loss.detach()) == 0.0
    assert all(g is not None and not g.any() for g in gradients)


def test_heads_have_to_be_whole() -> None:
    sizes = FreshModel(
        vocab_size=512,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    check_heads(fresh_config(sizes, 512, 0, None), 2)
    with pytest.raises(ModelError, match="2 key-value heads"):
        check_heads(fresh_config(sizes, 512, 0, None), 4)
