"""Runs on nodes that do not see each other's folders."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from cass_ray.train.curves import read_metrics
from cass_ray.train.run_files import RunFiles
from cass_ray.train.settings import TrainSettings
from cass_ray.train.share import RunShare
from tests.train.conftest import tiny_settings
from tests.train.runs import ALONE, changed, train, with_data


@pytest.fixture
def settings(tmp_path: Path, pairs_folder: Path) -> TrainSettings:
    """Of the driver, which has the tokens."""
    return with_data(tiny_settings(tmp_path, pairs_folder, share=f"memory://{uuid.uuid4().hex}"))


def share_of(settings: TrainSettings) -> RunShare:
    assert settings.share is not None
    return RunShare(settings.share, settings.out)


def test_a_worker_elsewhere_trains_on_the_drivers_tokens_and_the_driver_has_the_model(
    settings: TrainSettings, tmp_path: Path
) -> None:
    elsewhere = changed(settings, out=tmp_path / "elsewhere")
    share_of(settings).offer()
    share_of(elsewhere).fetch()
    (record,) = train(ALONE, elsewhere)
    share_of(elsewhere).deliver()
    share_of(settings).collect()
    files, theirs = RunFiles(settings.out), RunFiles(elsewhere.out)
    assert json.loads(files.summary.read_text()) == json.loads(theirs.summary.read_text())
    rows = read_metrics(settings.out / "metrics.jsonl")
    assert [(row["step"], row["loss"]) for row in rows] == [
        (step, loss) for step, loss, _ in record
    ]
    names = sorted(path.name for path in theirs.model.iterdir())
    assert "model.safetensors" in names
    assert sorted(path.name for path in files.model.iterdir()) == names
    assert not (settings.out / "checkpoints").exists()
    assert not (elsewhere.out / "checkpoints").exists()


def test_tokens_that_are_there_are_fetched_once_and_new_ones_again(
    settings: TrainSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = changed(settings, out=tmp_path / "elsewhere")
    share_of(settings).offer()
    share_of(elsewhere).fetch()
    theirs = RunFiles(elsewhere.out)
    theirs.train.write_bytes(b"as it was")
    share_of(elsewhere).fetch()
    assert theirs.train.read_bytes() == b"as it was"
    with_data(changed(settings, data__window=700))
    share_of(settings).offer()
    share_of(elsewhere).fetch()
    assert theirs.train.read_bytes() == RunFiles(settings.out).train.read_bytes()


def test_where_nothing_was_offered_the_place_is_named(settings: TrainSettings) -> None:
    share_of(settings).offer()
    share_of(settings).forget()
    with pytest.raises(FileNotFoundError, match=rf"{settings.share}: the tokens"):
        share_of(settings).fetch()


def test_checkpoints_are_where_all_see_them(tmp_path: Path, pairs_folder: Path) -> None:
    assert tiny_settings(tmp_path, pairs_folder, share="s3://a/b").checkpoint_url == (
        "s3://a/b/checkpoints"
    )
