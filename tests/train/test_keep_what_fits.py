"""Layers that recompute are not compiled, on every worker alike."""

import pytest
import torch

from cass_ray.train.distributed import DistributedContext
from cass_ray.train.model.activation_checkpoint import Keep
from cass_ray.train.settings import ModelSettings
from cass_ray.train.setup import keep_what_fits
from tests.train.model.test_activation_checkpoint import make_batch, make_prepared

ALONE = DistributedContext(0, 1, torch.device("cpu"))


class OtherRecomputes(DistributedContext):
    """Another worker has less memory."""

    def all_max(self, value: float) -> float:
        return max(value, 1.0)


@pytest.mark.parametrize(
    ("keeps", "distributed", "stays"),
    [
        ([Keep.EVERYTHING] * 3, ALONE, True),
        ([Keep.EVERYTHING, Keep.PRODUCTS, Keep.EVERYTHING], ALONE, False),
        ([Keep.ATTENTION] * 3, ALONE, False),
        ([Keep.NOTHING] * 3, ALONE, False),
        ([Keep.EVERYTHING] * 3, OtherRecomputes(0, 1, torch.device("cpu")), False),
    ],
)
def test_layers_stay_compiled_where_all_keep_everything(keeps, distributed, stays):
    prepared = make_prepared()
    wanted = float(prepared.model(make_batch((9, 5))))
    for layer in prepared.model.layers:
        layer.compile(backend="eager")
    asked: list[bool] = []

    def choose():
        asked.append(prepared.model.layers[0]._compiled_call_impl is not None)
        return keeps, "chosen"

    model = ModelSettings(base="unused", compile=True, liger=False)
    found, note = keep_what_fits(prepared, choose, model, distributed)
    assert found == keeps
    assert asked == ([True] if stays else [True, False])
    assert ("not compiled" in note) is not stays
    assert float(prepared.model(make_batch((9, 5)))) == pytest.approx(wanted, rel=1e-5)
