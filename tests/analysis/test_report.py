"""A report of five rows: numbers worked out by hand, and files that hold what they promise."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from cass_ray.analysis.assemble import assemble, tasks
from cass_ray.analysis.document import Cell, Document, FigureTable
from cass_ray.analysis.parts import analyse, analyse_kept
from cass_ray.analysis.report.write import write
from cass_ray.analysis.sampling import position, rate
from cass_ray.analysis.sections.lengths import fit
from cass_ray.analysis.sections.provenance import jensen_shannon
from cass_ray.analysis.settings import AnalysisSettings, NoDataSetError
from cass_ray.analysis.similarity import edit_similarity
from tests.analysis.conftest import row


@pytest.fixture(scope="module")
def document(five_rows: Path, tmp_path_factory: pytest.TempPathFactory) -> Document:
    out = tmp_path_factory.mktemp("document")
    settings = AnalysisSettings(dataset=five_rows, out=out, projections=("t-SNE",))
    return assemble(settings, [analyse(task) for task in tasks(settings)])


def table(document: Document, section: str, key: str) -> FigureTable:
    found = document.section(section)
    assert found is not None
    return next(each for each in found.tables if each.key == key)


def numbers(document: Document, section: str) -> dict[str, Cell]:
    found = document.section(section)
    assert found is not None
    return found.numbers


def test_composition(document: Document) -> None:
    made = numbers(document, "composition")
    assert made == {"pairs": 3, "kernels": 4, "repositories": 1, "without licence": 1}
    assert table(document, "composition", "origin").rows == [
        ["local", 2, 2 / 3],
        ["synthetic", 1, 1 / 3],
    ]
    assert table(document, "composition", "license").rows == [
        ["MIT", 2, 2 / 3],
        ["unknown", 1, 1 / 3],
    ]


def test_every_row_is_in_the_yield(document: Document) -> None:
    made = numbers(document, "yield")
    assert (made["rows read"], made["pairs"], made["duplicates"], made["rejects"]) == (5, 3, 1, 1)
    assert made["yield"] == 3 / 5
    assert made["yield without duplicates"] == 3 / 4
    funnel = {row[0]: row[1:] for row in table(document, "yield", "funnel").rows}
    assert funnel["deduplicate"] == [5, 1, 4]
    assert funnel["compile_amd"] == [4, 1, 3]
    assert funnel["select"] == [3, 0, 3]


def test_lengths_by_hand(document: Document) -> None:
    rows = {tuple(row[:3]): row[3:6] for row in table(document, "lengths", "lengths").rows}
    assert rows["CUDA source", "local", "lines"] == [2, 4, 2.0]
    assert rows["CUDA device, sm_80", "local", "instructions"] == [2, 12, 6.0]
    assert rows["HIP device, gfx1100", "local", "instructions"] == [2, 16, 8.0]
    assert rows["HIP device, gfx1100", "synthetic", "instructions"] == [1, 16, 16.0]
    ratios = {row[2]: row[3:] for row in table(document, "lengths", "ratios").rows}
    assert ratios["local"] == pytest.approx([2, 8 / 6, 8 / 6, 8 / 6])
    assert ratios["synthetic"] == pytest.approx([1, 16 / 6, 16 / 6, 16 / 6])


def test_classes_of_instructions_by_hand(document: Document) -> None:
    found = table(document, "instructions", "classes")
    names = [column.name for column in found.columns][2:]
    sass = next(row for row in found.rows if row[0] == "CUDA device sm_80, local")
    shares = dict(zip(names, sass[2:], strict=True))
    assert sass[1] == 12
    assert shares["memory"] == pytest.approx(2 / 6)
    assert shares["control flow"] == pytest.approx(2 / 6)
    assert shares["move"] == shares["floating point"] == pytest.approx(1 / 6)
    amd = next(row for row in found.rows if row[0] == "HIP device gfx1100, local")
    shares = dict(zip(names, amd[2:], strict=True))
    assert shares["memory"] == pytest.approx(3 / 8)
    assert shares["floating point"] == pytest.approx(2 / 8)
    assert shares["synchronisation"] == pytest.approx(1 / 8)


def test_entropy_of_six_different_mnemonics(document: Document) -> None:
    assert numbers(document, "instructions")["entropy, sm_80"] == pytest.approx(math.log2(6))
    assert numbers(document, "instructions")["mnemonics, sm_80"] == 6


def test_operations_are_counted_against_the_instruction_set(document: Document) -> None:
    rows = {row[0]: row for row in table(document, "instructions", "isa-coverage").rows}
    # v_mov_b32 and v_add_f32 of the dual instruction, v_add_f32 once more in another encoding.
    assert rows["gfx1100"][1:3] == [8, 7]
    known, share = rows["gfx1100"][3:]
    assert isinstance(known, int)
    assert known > 1_000
    assert share == pytest.approx(7 / known)


def test_execution(document: Document) -> None:
    assert numbers(document, "execution") == {
        "executed": 1,
        "share executed": 1 / 3,
        "median coverage of kernels' code": 0.5,
    }
    blocks = {row[0]: row[1:] for row in table(document, "execution", "blocks").rows}
    assert blocks == {"128×1×1": [128, 1, 2], "96×1×1": [96, 1, 1]}
    (dynamic,) = table(document, "execution", "dynamic").rows
    assert dynamic[:4] == ["local", 1, 100, 0.2]


def test_duplicates(document: Document) -> None:
    assert table(document, "duplicates", "duplicates").rows == [["near_duplicate", "local", 1]]
    assert table(document, "duplicates", "groups").rows == [[2, 1]]
    assert table(document, "duplicates", "largest-groups").rows == [[row(1)["id"], "p1.cu", 1]]


def test_similarity_of_equal_texts_is_whole(document: Document) -> None:
    made = numbers(document, "similarity")
    assert made["chrf, source"] == pytest.approx(100)
    assert made["edit, host"] == pytest.approx(100)
    assert float(str(made["chrf, device"])) < 40


def test_published_figures_stand_beside_ours(document: Document) -> None:
    rows = {row[0]: row[1:3] for row in table(document, "published", "published").rows}
    assert rows["pairs"] == [70694, 3]
    assert rows["pairs of generated programs"] == [40000, 1]
    assert rows["pairs whose two sides ran and agreed"] == [None, 1]


def test_edit_similarity_by_hand() -> None:
    assert edit_similarity("kitten", "sitting") == pytest.approx(100 * (1 - 3 / 7))


def test_a_fit_finds_the_power_that_made_the_points() -> None:
    x = np.array([1.0, 2.0, 5.0, 0.0, 10.0])
    found = fit(x, 3 * x**1.5)
    assert found is not None
    assert found.slope == pytest.approx(1.5)
    assert 10**found.intercept == pytest.approx(3)
    assert found.r_squared == pytest.approx(1)
    assert found.points == 4  # the point at zero has no logarithm
    assert fit(np.array([1.0, 2.0]), np.array([1.0, 2.0])) is None


def test_divergence_of_distributions() -> None:
    whole, other = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert jensen_shannon(whole, whole) == 0
    assert jensen_shannon(whole, other) == pytest.approx(1)


def test_samples_do_not_depend_on_order() -> None:
    chosen = {name for name in map(str, range(10_000)) if position(name, "x") < rate(1_000, 10_000)}
    assert 900 < len(chosen) < 1_100
    assert rate(50, 20) == 1.0


def test_files_hold_what_they_promise(document: Document, tmp_path: Path) -> None:
    said: list[str] = []
    page = write(document, tmp_path / "out", images=True, done=said.append)
    text = page.read_text()
    assert "http" not in text.split('<script type="module">')[0]
    assert page.stat().st_size < 10_000_000
    kept = json.loads((tmp_path / "out/report.json").read_text())
    assert {each["key"] for each in kept["sections"]} >= {"composition", "yield", "lengths"}
    for section in document.sections:
        for figure in section.figures:
            assert (tmp_path / f"out/figures/{figure.key}.png").read_bytes()[:4] == b"\x89PNG"
            assert "<svg" in (tmp_path / f"out/figures/{figure.key}.svg").read_text()
            assert "N = " in figure.caption or " of " in figure.caption


def test_an_unchanged_part_is_not_read_again(
    five_rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = AnalysisSettings(dataset=five_rows, out=tmp_path / "out")
    (task,) = tasks(settings)
    first = analyse_kept(task, tmp_path / "kept")

    def forbidden(_: object) -> object:
        raise AssertionError("read again")

    monkeypatch.setattr("cass_ray.analysis.parts.analyse", forbidden)
    second = analyse_kept(task, tmp_path / "kept")
    assert second.features == first.features
    assert second.mnemonics == first.mnemonics
    changed = task.model_copy(update={"similarity_rate": 0.5})
    with pytest.raises(AssertionError, match="read again"):
        analyse_kept(changed, tmp_path / "kept")


def test_no_data_set_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(NoDataSetError, match="cass build-dataset"):
        tasks(AnalysisSettings(dataset=tmp_path, out=tmp_path / "out"))


def test_an_empty_data_set_has_a_report(tmp_path: Path) -> None:
    from tests.datasets_on_disk import write_rows

    write_rows([], tmp_path / "none")
    settings = AnalysisSettings(dataset=tmp_path / "none", out=tmp_path / "out")
    made = assemble(settings, [analyse(task) for task in tasks(settings)])
    assert numbers(made, "composition")["pairs"] == 0
    assert write(made, tmp_path / "out", images=False, done=lambda _: None).exists()
