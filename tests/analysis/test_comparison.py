"""Two analyses, or two results of the benchmark, number by number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.analysis.assemble import assemble, tasks
from cass_ray.analysis.comparison import NotComparableError, compare
from cass_ray.analysis.parts import analyse
from cass_ray.analysis.report.write import write
from cass_ray.analysis.settings import AnalysisSettings
from cass_ray.commands.compare import app
from tests.analysis.conftest import row
from tests.datasets_on_disk import write_rows


def analysed(rows: list[dict[str, object]], folder: Path) -> Path:
    write_rows(rows, folder / "data")
    settings = AnalysisSettings(dataset=folder / "data", out=folder, similarity_rows=0)
    document = assemble(settings, [analyse(task) for task in tasks(settings)])
    write(document, folder, images=False, done=lambda _: None)
    return folder


def test_differences_of_two_data_sets(tmp_path: Path) -> None:
    one = analysed([row(1)], tmp_path / "one")
    two = analysed([row(1), row(2, kernels=["a", "b"])], tmp_path / "two")
    section = compare(one, two).section("composition")
    assert section is not None
    found = {cells[0]: cells[1:] for cells in section.tables[0].rows}
    assert found["pairs"] == [1, 2, 1, 2]
    assert found["kernels"] == [1, 3, 2, 3]
    assert found["Origin: local: pairs"] == [1, 2, 1, 2]


def test_equal_ones_differ_in_nothing(tmp_path: Path) -> None:
    one = analysed([row(1)], tmp_path / "one")
    for section in compare(one, one).sections:
        assert all(cells[3] == 0 for cells in section.tables[0].rows)


def test_only_differences_are_shown_unless_asked(tmp_path: Path) -> None:
    one = analysed([row(1)], tmp_path / "one")
    two = analysed([row(1), row(2)], tmp_path / "two")
    shown = CliRunner().invoke(app, [str(one), str(two)]).output
    assert "kernels" in shown
    assert "repositories" not in shown
    assert "repositories" in CliRunner().invoke(app, [str(one), str(two), "--all"]).output


def test_what_cannot_be_compared_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotComparableError, match="cass analyze"):
        compare(tmp_path, tmp_path)
    one = analysed([row(1)], tmp_path / "one")
    results = tmp_path / "results"
    results.mkdir()
    (results / "scores.json").write_text(json.dumps([]))
    with pytest.raises(NotComparableError, match="CASS-Bench"):
        compare(one, results)
