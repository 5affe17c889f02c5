"""The job on Ray: workers that are killed, and a run that is there already."""

from __future__ import annotations

import json
import os
import signal
from functools import partial
from pathlib import Path

import pytest
import ray
import torch
from typer.testing import CliRunner

from cass_ray.config import SettingsError, load
from cass_ray.execute.rewards.verdicts import Outcome, RewardVerdict
from cass_ray.train.rl.job_settings import RlJobSettings
from tests.folders import REPOSITORY
from tests.format_model import PROGRAM, save_format_model, translated
from tests.train.conftest import pair, write_pairs
from tests.train.rl.runs import SAMPLING


class Unchanged:
    """Rewards the program as it was; ``marker``: dies of its first answer where that is not."""

    def __init__(self, marker: Path | None = None) -> None:
        self._marker = marker

    def judge(self, item):
        if self._marker is not None and not self._marker.exists():
            self._marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        same = item.question in item.answer
        return RewardVerdict(reward=float(same), outcome=Outcome.RIGHT)


def dying_rollouts(settings: RlJobSettings, marker: Path, number: int):
    """The job's own maker, killed in its second batch; once."""
    from actors.rl import make_rollouts

    made = make_rollouts(settings, number)
    inner, calls = made.rollouts, []

    def rollouts(questions):
        calls.append(1)
        if len(calls) == 2 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return inner(questions)

    made.rollouts = rollouts
    return made


@pytest.fixture(scope="module")
def cluster():
    from actors.training import join_cluster

    join_cluster(workers=6)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    torch.manual_seed(0)
    save_format_model(folder)
    return folder


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    rows = []
    for number in range(3):
        cuda, hip = (text.replace("sum", f"sum{number}") for text in (PROGRAM, translated()))
        rows.append(pair(number) | {"id": f"{number}", "cuda_source": cuda, "hip_source": hip})
    return write_pairs(tmp_path_factory.mktemp("pairs"), rows)


def settings_of(out, model, pairs, **more):
    values = {
        "name": "rl",
        "model": str(model),
        "out": out,
        "pairs": [str(pairs)],
        "held_out": 0.0,
        "max_question_tokens": 200,
        "precision": "fp32",
        "workers": {"gpus": 0, "cpus": 0.5, "failures": 0},
        "rollouts": {"cpus": 0.5},
        "judges": {"number": 1, "cpus": 0.5},
        "sampling": SAMPLING.model_dump() | {"group": 24},
        "optimizer": {"learning_rate": 0.05, "schedule": "constant", "warmup_ratio": 0.0},
        "steps": 10,
        "save_every": 2,
        "micro_batch_tokens": 4000,
    }
    return RlJobSettings.model_validate(values | more)


def metrics(out):
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.slow  # of the same losses, each by itself: tests/actors/test_rl.py, test_rewards.py
def test_killed_rollout_and_reward_workers_cost_their_batch_only(tmp_path, model, pairs, cluster):
    from actors.rl import fit_rl

    settings = settings_of(tmp_path / "out", model, pairs)
    settings.out.mkdir()
    summary = fit_rl(
        settings,
        lambda _: None,
        partial(dying_rollouts, settings, tmp_path / "drew"),
        partial(Unchanged, tmp_path / "judged"),
    )
    assert (tmp_path / "drew").exists()
    assert (tmp_path / "judged").exists()
    # Two batches are under way, and the one worker drew for both.
    assert summary["steps"] == 10
    assert summary["lost"] in (1, 2)
    rewards = [row["reward"] for row in metrics(settings.out)]
    assert sum(rewards[-3:]) / 3 > rewards[0] + 0.2
    # The model that was saved is one that others load, and no longer the first.
    from cass_ray.train.rl.model_folder import load_policy

    before, after = (
        load_policy(str(folder), "cpu", torch.float32)[0].state_dict()
        for folder in (model, settings.out / "model")
    )
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_a_judge_that_only_compiles_is_refused_with_its_successor():
    with pytest.raises(SettingsError, match=r"judges\.kind.*recipes\.judge\.compiled"):
        load(RlJobSettings, None, {"judges": {"kind": "compile"}, "model": "m", "out": "o"})


def test_the_settings_that_are_shipped_are_settings():
    path = REPOSITORY / "jobs/configs/rl_small.yaml"
    assert load(RlJobSettings, path, {}).sampling.group == 8


def test_a_run_that_is_there_is_not_begun_again(tmp_path):
    from jobs.train_rl import app

    (tmp_path / "steps.json").write_text('{"steps": 5}')
    config = REPOSITORY / "jobs/configs/rl_small.yaml"
    done = CliRunner().invoke(app, ["--config", str(config), "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "--resume" in done.output
