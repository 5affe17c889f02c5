"""Which folders a build may write to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cass_ray.pipeline.output import OutputOccupied, check_free
from cass_ray.storage.store import Store

SETTINGS = {"sources": ["shipped"], "out": "x", "slots": None, "amd_architectures": ["gfx1100"]}


def finished(folder: Path, **changes: object) -> Store:
    report = {"cass_ray": "0.1.0", "settings": {**SETTINGS, **changes}}
    (folder / "pairs").mkdir()
    (folder / "report.json").write_text(json.dumps(report))
    return Store(folder)


def test_an_empty_or_unrelated_folder_is_free(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    check_free(Store(tmp_path), SETTINGS)


@pytest.mark.parametrize("name", ["README.md", "report.json", "pairs", "rejects"])
def test_what_no_build_wrote_is_in_the_way(tmp_path: Path, name: str) -> None:
    if "." in name:
        (tmp_path / name).write_text('{"mine": 1}')
    else:
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text("mine")
    with pytest.raises(OutputOccupied, match="no build wrote"):
        check_free(Store(tmp_path), SETTINGS)


def test_a_data_set_is_replaced_by_the_same_settings_alone(tmp_path: Path) -> None:
    store = finished(tmp_path)
    check_free(store, {**SETTINGS, "out": "elsewhere", "slots": 4})
    with pytest.raises(OutputOccupied, match=r"other settings \(amd_architectures, sources\)"):
        check_free(store, {**SETTINGS, "sources": ["local:/empty"], "amd_architectures": []})


def test_what_a_killed_build_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / ".work").mkdir()
    (tmp_path / "pairs").mkdir()
    check_free(Store(tmp_path), SETTINGS)
