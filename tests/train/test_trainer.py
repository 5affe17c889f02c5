"""Whole runs of the loop: what goes wrong on the way, and what is written down."""

from __future__ import annotations

import json
from itertools import islice
from types import SimpleNamespace

import pytest
import torch

from cass_ray.train import trainer as loop_module
from cass_ray.train.checkpoint.store import CheckpointStore
from cass_ray.train.curves import read_metrics
from cass_ray.train.data.sources import make_plan
from cass_ray.train.data.token_store import TokenStore
from cass_ray.train.loss_guard import TrainingDiverged
from cass_ray.train.model.build import AnswerModel
from cass_ray.train.model.memory import OutOfMemory
from cass_ray.train.run_files import RunFiles
from cass_ray.train.settings import TrainSettings
from cass_ray.train.trainer import Trainer, TrainingSummary
from tests.train.conftest import tiny_settings
from tests.train.runs import ALONE, changed, with_data


def run(settings: TrainSettings) -> TrainingSummary:
    return Trainer(settings, ALONE, say=lambda _: None).run()


def events(settings: TrainSettings) -> list[dict]:
    lines = RunFiles(settings.out).events.read_text().splitlines()
    return [json.loads(line) for line in lines]


def pairs_of_step(settings: TrainSettings, step: int) -> list[str]:
    store = TokenStore(RunFiles(settings.out).train)
    windows = next(islice(make_plan(settings, store).from_step(0), step - 1, None))
    return sorted({store[example].pair for window in windows for example in window})


@pytest.fixture
def scale_loss(monkeypatch):
    """``scale_loss(step, factor)``: the losses of one step come out ``factor`` times as large."""

    def install(step: int, factor: float) -> None:
        plain, calls = AnswerModel.forward, iter(range(10**6))

        def forward(self, batch):
            loss = plain(self, batch)
            if not torch.is_grad_enabled():  # evaluation
                return loss
            return loss * factor if next(calls) // 4 == step - 1 else loss  # 4 passes a step

        monkeypatch.setattr(AnswerModel, "forward", forward)

    return install


def test_a_loss_that_is_not_finite_is_skipped_and_its_pairs_named(
    tmp_path, pairs_folder, scale_loss
):
    settings = with_data(tiny_settings(tmp_path, pairs_folder))
    scale_loss(2, float("nan"))
    summary = run(settings)
    assert summary.skipped == 1
    [event] = events(settings)
    assert event == {
        "step": 2,
        "reason": "the loss is nan",
        "pairs": pairs_of_step(settings, 2),
    }
    rows = read_metrics(settings.out / "metrics.jsonl")
    assert [row["skipped_steps"] for row in rows] == [0, 1, 1, 1]
    assert rows[1]["gradient_norm"] == 0.0
    assert 0 < rows[3]["loss"] < rows[0]["loss"]


def test_a_loss_that_is_not_finite_can_stop_training(tmp_path, pairs_folder, scale_loss):
    settings = with_data(tiny_settings(tmp_path, pairs_folder, guard__not_finite="stop"))
    scale_loss(3, float("inf"))
    with pytest.raises(TrainingDiverged, match="step 3: the loss is inf; pairs: ") as raised:
        run(settings)
    assert ", ".join(pairs_of_step(settings, 3)) in str(raised.value)
    assert CheckpointStore(settings.checkpoint_url).steps() in ([2], [])  # written behind


def test_a_spike_is_reported_and_training_goes_on(tmp_path, pairs_folder, scale_loss):
    settings = with_data(
        tiny_settings(tmp_path, pairs_folder, steps=6, guard__recent=4, guard__factor=3.0)
    )
    scale_loss(5, 4.0)
    summary = run(settings)
    assert summary.skipped == 0
    [event] = events(settings)
    assert (event["step"], event["pairs"]) == (5, pairs_of_step(settings, 5))
    assert "times the recent" in event["reason"]


def test_out_of_memory_names_settings_that_would_fit(tmp_path, pairs_folder, monkeypatch):
    settings = with_data(tiny_settings(tmp_path, pairs_folder))

    def forward(self, batch):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9.00 GiB.\nmore")

    monkeypatch.setattr(AnswerModel, "forward", forward)
    properties = SimpleNamespace(total_memory=80 << 30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    with pytest.raises(OutOfMemory) as raised:
        run(settings)
    lines = str(raised.value).splitlines()
    assert lines[0] == "CUDA out of memory. Tried to allocate 9.00 GiB."
    assert lines[1].startswith("80 GiB are there")
    assert (
        "  model.activation_checkpointing: all (keeps no activations but the layers' inputs)"
        in lines
    )


def test_a_corrupt_checkpoint_is_passed_over_for_the_one_before(tmp_path, pairs_folder):
    settings = with_data(tiny_settings(tmp_path, pairs_folder, optimizer__schedule="constant"))
    run(settings)
    folder = settings.out / "checkpoints" / "step-00000004"
    part = next(folder.glob("part-*"))
    part.write_bytes(part.read_bytes()[:-1])
    lines: list[str] = []
    summary = Trainer(changed(settings, steps=5), ALONE, say=lines.append).run()
    assert summary.resumed_from == 2
    [said] = [line for line in lines if "corrupt" in line]
    assert said.startswith("checkpoint of step 4 is corrupt (")
    assert said.endswith("using the one before it")
    rows = read_metrics(settings.out / "metrics.jsonl")
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5]


class GrowingMeter:
    """A quarter of a kilowatt-hour more at each reading."""

    def __init__(self, device: torch.device) -> None:
        self.readings = 0

    @property
    def kilowatt_hours(self) -> float:
        self.readings += 1
        return 0.25 * self.readings


def test_energy_adds_up_over_a_restart(tmp_path, pairs_folder, monkeypatch):
    monkeypatch.setattr(loop_module, "EnergyMeter", GrowingMeter)
    settings = with_data(tiny_settings(tmp_path, pairs_folder))
    assert run(settings).kilowatt_hours == 1.0
    summary = run(changed(settings, steps=6))
    assert summary.resumed_from == 4
    assert summary.kilowatt_hours == 1.5
    rows = read_metrics(settings.out / "metrics.jsonl")
    assert [row["energy_kwh"] for row in rows] == [0.25, 0.5, 0.75, 1.0, 1.25, 1.5]
    assert "| energy of the GPUs | 1.500 kWh |" in (settings.out / "model/README.md").read_text()


def test_tensorboard_has_every_curve(tmp_path, pairs_folder):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    settings = with_data(
        tiny_settings(tmp_path, pairs_folder, logging__tensorboard=True, evaluation__every=2)
    )
    run(settings)
    events = accumulator.EventAccumulator(str(settings.out / "tensorboard"))
    events.Reload()
    rows = read_metrics(settings.out / "metrics.jsonl")
    for name in ("loss", "gradient_norm", "learning_rate", "tokens_per_second_per_worker"):
        shown = [(item.step, item.value) for item in events.Scalars(name)]
        assert shown == [(row["step"], pytest.approx(row[name], rel=1e-5)) for row in rows]
    assert [item.step for item in events.Scalars("held_out_loss")] == [2, 4]
    assert {"energy_kwh", "data_wait_seconds"} <= set(events.Tags()["scalars"])


@pytest.mark.slow
@pytest.mark.amd
def test_accuracy_on_cass_bench_is_measured_while_training(tmp_path, pairs_folder, monkeypatch):
    """Tasks are asked of the weights of the step; a model of four steps knows nothing. Where the
    rule engine answers in its place, the same tasks pass."""
    from cass_ray.train import bench_accuracy
    from cass_ray.translate.rules import RulesTranslator

    bench = {"every": 2, "tasks": 3, "max_new_tokens": 16}
    settings = with_data(
        tiny_settings(tmp_path, pairs_folder, evaluation__every=2, evaluation__bench=bench)
    )
    run(settings)
    rows = read_metrics(settings.out / "metrics.jsonl")
    assert [row.get("bench_accuracy") for row in rows] == [None, 0.0, None, 0.0]

    def rules(folder: str, options):
        assert json.loads((RunFiles(settings.out).model / "config.json").read_text())
        assert options.max_new_tokens == 16
        return RulesTranslator()

    monkeypatch.setattr(bench_accuracy, "ModelTranslator", rules)
    run(changed(settings, steps=6))
    rows = read_metrics(settings.out / "metrics.jsonl")
    assert rows[5]["bench_accuracy"] == 1.0
