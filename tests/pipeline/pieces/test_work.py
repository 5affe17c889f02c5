"""What results of a build depend on: every setting, unless it is listed as one without effect."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from cass_ray.corpus.screening.settings import ScreeningSettings
from cass_ray.pipeline.pieces.work import (
    OF_FINISHED_ROWS,
    WITHOUT_EFFECT,
    BuildWork,
    ChangedCodeError,
)
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.storage.store import Store
from cass_ray.translate.rules.engine import RulesTranslator


class PlantedSettings(BuildSettings):
    """With a setting that somebody added and listed nowhere."""

    unrolled: bool = False


def keys(tmp_path: Path, **changes: Any) -> tuple[str, str]:
    """Keys of pieces as read, and of finished rows."""
    settings = PlantedSettings(**{"sources": ["shipped"], "out": str(tmp_path)} | changes)
    work = BuildWork(Store(tmp_path), settings)
    return work.reading, work.finishing


def test_a_setting_that_nobody_lists_makes_results_of_its_own(tmp_path: Path) -> None:
    plain, planted = keys(tmp_path), keys(tmp_path, unrolled=True)
    assert plain[0] != planted[0]
    assert plain[1] != planted[1]


@pytest.mark.parametrize(
    "change",
    [
        {"nvidia_architectures": ["sm_90"]},
        {"amd_architectures": ["gfx942"]},
        {"optimization": "-O3"},
        {"translator": "rules-hip-to-cuda"},
        {"execute": True},
        {"lift": True},
        {"lifted_rows": True},
        {"lifted_reference": False},
    ],
)
def test_settings_of_stages_count_for_finished_rows_alone(
    change: dict[str, Any], tmp_path: Path
) -> None:
    assert change.keys() <= OF_FINISHED_ROWS
    plain, changed = keys(tmp_path), keys(tmp_path, **change)
    assert plain[0] == changed[0]
    assert plain[1] != changed[1]


@pytest.mark.parametrize(
    "change",
    [
        {"sources": ["shipped", "local:."]},
        {"compile": False},
        {"headers": "none"},
        {"recorded_builds": False},
        {"near_duplicates": {"threshold": 0.5}},
        {"read": {"source_bytes": 4096}},
    ],
)
def test_settings_of_reading_count_for_both(change: dict[str, Any], tmp_path: Path) -> None:
    plain, changed = keys(tmp_path), keys(tmp_path, **change)
    assert plain[0] != changed[0]
    assert plain[1] != changed[1]


@pytest.mark.parametrize(
    "change", [{"slots": 3}, {"rows_per_block": 2}, {"cache": False}, {"node_wait_seconds": 1}]
)
def test_settings_without_effect(change: dict[str, Any], tmp_path: Path) -> None:
    assert change.keys() <= WITHOUT_EFFECT
    assert keys(tmp_path) == keys(tmp_path, **change)


def test_what_is_listed_exists_and_is_no_setting_of_screening() -> None:
    listed = WITHOUT_EFFECT | OF_FINISHED_ROWS
    assert listed <= BuildSettings.model_fields.keys()
    assert not listed & ScreeningSettings.model_fields.keys()
    assert not WITHOUT_EFFECT & OF_FINISHED_ROWS


def test_a_worker_whose_translator_changed_since_the_build_began_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its blocks were committed under another name, and the driver found none of them."""
    work = BuildWork(Store(tmp_path), BuildSettings(sources=["shipped"], out=str(tmp_path)))
    sent = pickle.dumps(work)
    assert pickle.loads(sent).blocks.name == work.blocks.name
    monkeypatch.setattr(RulesTranslator, "version", "edited")
    with pytest.raises(ChangedCodeError, match=r"`rules`.* changed while the build ran"):
        pickle.loads(sent).blocks  # noqa: B018
