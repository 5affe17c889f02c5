"""The job on Ray: two workers with ZeRO-2, a worker that is killed, and bad input."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
import ray

from cass_ray.train.curves import read_metrics
from cass_ray.translate.engines.registry import make_translator
from cluster import local
from tests.folders import REPOSITORY
from tests.train.conftest import cuda_program, pair, tiny_settings, write_pairs
from tests.train.runs import ALONE, changed, train, with_data


@dataclass(frozen=True)
class KillOnce:
    """In one worker, at one step, ``kill -9`` of its own process; once."""

    marker: Path
    step: int

    def __call__(self, step: int, values: dict[str, float]) -> None:
        if step == self.step and ray.train.get_context().get_world_rank() == 1:
            try:
                self.marker.touch(exist_ok=False)
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def pairs_folder(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("pairs"), [pair(number) for number in range(40)])


@pytest.fixture(scope="module")
def cluster():
    from actors.training import join_cluster

    join_cluster(workers=3)
    yield
    ray.shutdown()


@pytest.mark.slow
def test_a_killed_worker_costs_nothing_but_time(tmp_path, pairs_folder, cluster):
    """Two workers, ZeRO-2, ``kill -9`` of one after step 5: the losses are those of one worker
    that nobody disturbed, and the model is one that translates."""
    from actors.training import fit, prepare_data

    settings = tiny_settings(
        tmp_path,
        pairs_folder,
        steps=8,
        zero__stage=2,
        zero__overlap=False,
        workers__number=2,
        workers__failures=1,
    )
    prepare_data(settings, print)
    marker = tmp_path / "killed"
    summary = fit(settings, KillOnce(marker, 5))
    assert marker.exists()
    assert summary["resumed_from"] == 4
    rows = read_metrics(settings.out / "metrics.jsonl")
    assert [row["step"] for row in rows] == list(range(1, 9))
    alone = with_data(changed(settings, out=tmp_path / "alone", workers__number=1, zero__stage=0))
    expected = [loss for _, loss, _ in train(ALONE, alone)[0]]
    assert [row["loss"] for row in rows] == pytest.approx(expected, abs=1e-4)
    translator = make_translator(f"model:{summary['model']}?max_new_tokens=16")
    assert translator.translate(cuda_program(1)).counts.converted <= 1


@pytest.mark.slow
def test_many_pairs_become_tokens_in_a_pool_of_actors(tmp_path, cluster, monkeypatch):
    """As many as few pairs do in the driver, and the same."""
    import actors.training as job
    from cass_ray.train.run_files import RunFiles

    folder = write_pairs(tmp_path / "pairs", [pair(number) for number in range(150)])
    settings = tiny_settings(tmp_path, folder)
    job.prepare_data(settings, print)
    few = RunFiles(settings.out).train.read_bytes()
    other = changed(settings, out=tmp_path / "other")
    monkeypatch.setattr(job, "FEW_PAIRS", 0)
    job.prepare_data(other, print)
    assert RunFiles(other.out).train.read_bytes() == few


def test_a_recipe_trains_through_the_job_and_answers(tmp_path, pairs_folder, cluster):
    """``make demo-train``'s settings, shortened: progress of the workers, then answers."""
    from typer.testing import CliRunner

    from jobs.train import app

    shorter = ["steps=2", "logging.every=1", "evaluation.answers=1"]
    shorter += ["model.fresh.max_position_embeddings=2048"]  # what ends an untrained model's answer
    shorter += ["data.recipe.processes=0", "data.recipe.row_tokens=2048"]
    shorter += [f"data.pairs=[{pairs_folder}]"]
    arguments = ["--config", str(REPOSITORY / "jobs/configs/train_tiny.yaml")]
    arguments += ["--out", str(tmp_path / "run"), *(f"--set={each}" for each in shorter)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "40 pairs to draw from, 0 held out"
    assert [line.split(" · ")[0] for line in lines if line.startswith("step ")] == [
        "step 1/2", "step 2/2"
    ]  # fmt: skip
    assert any(
        line.endswith("of 1 answers are edits that a program can be made of:") for line in lines
    )
    assert lines[-1].startswith("try it: cass translate FILE.cu --engine model:")
    assert not [line for line in lines if "pid=" in line or "WARNING" in line]
    assert not [line for line in lines if "Liger" in line or "attention" in line]  # no GPU


_BLIND = 'mount -t tmpfs none "$0" && exec "$@"'
"""A node that has a folder of its own where others have the driver's."""


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")
def test_nodes_that_do_not_see_the_drivers_folder_train_as_one_does(
    tmp_path, pairs_folder, monkeypatch
):
    """Two workers on two nodes, ``out`` is empty on either."""
    run, share = tmp_path / "run", tmp_path / "share"
    monkeypatch.setenv("CASS_CACHE", str(tmp_path / "cache"))
    run.mkdir()
    blind = ("unshare", "--mount", "bash", "-c", _BLIND, str(run))
    plan = [local.NodePlan("head", 0, {})]
    plan += [local.NodePlan(f"far-{number}", 1, {}, blind) for number in (1, 2)]
    state = local.start(plan, jobs=False)
    try:
        ray.shutdown()
        for name, value in local.environment(state.token).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("RAY_ADDRESS", state.address)
        from actors.training import fit, join_cluster, prepare_data

        settings = tiny_settings(tmp_path, pairs_folder, share=share, workers__number=2)
        join_cluster(workers=2)
        prepare_data(settings, print)
        said: list[str] = []
        summary = fit(settings, say=said.append)
        ray.shutdown()
    finally:
        local.stop(state)
    alone = with_data(changed(settings, out=tmp_path / "alone", share=None, workers__number=1))
    expected = [loss for _, loss, _ in train(ALONE, alone)[0]]
    rows = read_metrics(settings.out / "metrics.jsonl")
    assert [row["loss"] for row in rows] == pytest.approx(expected, abs=1e-4)
    assert summary["steps"] == 4
    assert any("step 4/4" in line for line in said)
    assert (settings.out / "model" / "model.safetensors").exists()
