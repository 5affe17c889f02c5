"""Results: what is derived from the figures, merging, and the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.measure.accounting import Cost, Process
from benchmarks.measure.machine import MeasuredMachine
from benchmarks.measure.tools import UNATTRIBUTED
from benchmarks.pipeline.figures import (
    BuildFigures,
    Comparison,
    RayOverhead,
    Results,
    Setting,
    figures,
)
from benchmarks.pipeline.results_files import load, save

SETTING = Setting(
    command="python benchmarks/pipeline/build_dataset.py",
    machine=MeasuredMachine(
        cores=2, processor="a", memory_gib=4.0, system="Linux", versions={"ray": "1"}
    ),
)


def build(cpu_seconds: float, pairs: int = 10) -> BuildFigures:
    return BuildFigures(
        rows=12,
        pairs=pairs,
        cpu_seconds=cpu_seconds,
        wall_seconds=1.0,
        method="control group",
        tools={"clang": cpu_seconds},
    )


def comparison(paper: float, cold: float, warm: float, corpus: str = "shipped") -> Comparison:
    return Comparison(
        corpus=corpus,
        architectures=["sm_80"],
        setting=SETTING,
        paper=build(paper, pairs=8),
        cold=build(cold),
        warm=build(warm),
        only_paper=[],
        only_ours={"a.cu": "align", "b.cu": "align"},
    )


def test_gain_is_per_kept_pair() -> None:
    compared = comparison(paper=40.0, cold=20.0, warm=1.0)
    assert compared.gain == pytest.approx((40 / 8) / (20 / 10))
    assert compared.gain_again == pytest.approx(50.0)


def test_no_gain_is_larger_than_that_of_compilers_alone() -> None:
    compared = comparison(paper=40.0, cold=20.0, warm=1.0)
    tools = {"clang": 6.0, "cicc": 2.0, "driver (Python)": 10.0, UNATTRIBUTED: 2.0}
    cold = compared.cold.model_copy(update={"tools": tools})
    compared = compared.model_copy(update={"cold": cold})
    assert compared.cold.compiler_seconds == 10.0
    assert compared.most_gain == pytest.approx((40 / 8) / (10 / 10))


def test_what_the_records_miss_is_a_row_of_its_own() -> None:
    cost = Cost(1.0, 5.0, 0.0, (Process(1, 0, "clang-19", 3.0, 0, 1, 0),))
    assert figures(cost, 1, 1).tools == {"clang": 3.0, UNATTRIBUTED: 2.0}
    assert figures(Cost(1.0, None, 4.0), 1, 1).tools == {}


def test_rays_share_is_python_beyond_the_library() -> None:
    overhead = RayOverhead(
        setting=SETTING,
        build=build(200.0),
        slots=2,
        busy_share=0.97,
        mean_running=2.5,
        window_seconds=90.0,
        library_seconds=15.0,
        python_seconds=27.0,
    )
    assert overhead.ray_seconds == 12.0
    assert overhead.ray_share == pytest.approx(0.06)


def test_a_new_run_replaces_the_same_comparison_only(tmp_path: Path) -> None:
    path = tmp_path / "results" / "figures.json"
    results = load(path)
    for one in (comparison(9, 9, 9), comparison(9, 9, 9, "other"), comparison(40, 20, 1)):
        results = results.with_comparison(one)
        save(results, path)
    assert [c.corpus for c in load(path).comparisons] == ["other", "shipped"]
    assert load(path) == results
    page = path.with_suffix(".md").read_text()
    assert "| shipped, sm_80 | 8 / 10 | 5.00 | 2.00 (**2.50×**) | 0.100 (**50×**) |" in page
    assert "Only ours keeps (what failed the paper's way): a.cu (align), b.cu (align)." in page


def test_what_was_written_by_hand_outlives_a_run(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    save(Results(note="Measured beside `other` work."), path)
    save(load(path).with_comparison(comparison(9, 9, 9)), path)
    lines = path.with_suffix(".md").read_text().splitlines()
    assert "Measured beside `other` work." in lines


def test_an_empty_file_of_results_is_none_at_all(tmp_path: Path) -> None:
    assert load(tmp_path / "missing.json") == Results()
