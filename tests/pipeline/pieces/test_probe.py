"""A row that ends the process which screens it costs itself alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cass_ray.corpus.screening.screening import Screened, Screening
from cass_ray.dataset.parquet import read_rows
from cass_ray.pipeline.output import output_at
from cass_ray.pipeline.pieces.probe import without_deadly
from cass_ray.pipeline.pieces.read import ReadPieces, pieces_of
from cass_ray.pipeline.pieces.work import BuildWork
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import Row
from tests.corpus.conftest import write_files
from tests.corpus.screening.test_screening import program
from tests.pipeline.pieces.test_build import built

FAULTS = """
import os, sys
from cass_ray.corpus.screening.screening import Screening
from cass_ray.pipeline.pieces.probe import answer
whole = Screening.sources
def sources(self, rows):
    text = "".join(row["cuda_source"] for row in rows)
    if "deadly" in text:
        os.kill(os.getpid(), 11)
    if "defect" in text:
        raise RuntimeError("a bug of ours")
    return whole(self, rows)
Screening.sources = sources
answer(sys.stdin.buffer, sys.stdout.buffer)
"""
PROBE = (sys.executable, "-c", FAULTS)


@pytest.fixture
def settings(tmp_path: Path) -> BuildSettings:
    names = ["one", "deadly", "two", "defect", "three"]
    files = {f"{number}{name}.cu": program(name) for number, name in enumerate(names)}
    write_files(tmp_path / "in", {**files, "5.cu": "int x;\n"})
    return BuildSettings(
        sources=[f"local:{tmp_path / 'in'}"], out=tmp_path / "out", compile=False, cache=False
    )


def test_rows_are_tried_apart(settings: BuildSettings) -> None:
    rows: list[Row] = [
        {"id": f"{number:064x}", "cuda_source": program(name), "reason": None}
        for number, name in enumerate(("one", "deadly", "defect", "two"))
    ]
    reasons = [row["reason"] for row in without_deadly(rows, settings, PROBE)]
    assert reasons == [None, "worker_died", "internal_error", None]
    deadly = without_deadly(rows, settings, PROBE)[1]
    assert deadly["diagnostic"] == "the process that screened this row ended with status -11"


def test_after_a_death_the_next_attempt_rejects_the_row(
    settings: BuildSettings, tmp_path: Path
) -> None:
    output = output_at(settings.out)
    work = BuildWork(output.store, settings)
    (piece,) = pieces_of(settings, output.scratch)
    child = os.fork()
    if not child:  # the attempt that dies of its row
        Screening.sources = lambda self, rows: os._exit(7)  # type: ignore[method-assign, assignment, return-value]
        try:
            ReadPieces(work, output.scratch)(piece)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    done = ReadPieces(work, output.scratch, PROBE)(piece)
    assert (done.counts["rows"], done.counts["live-0"]) == (6, 3)
    assert done.counts["reason-worker_died"] == done.counts["reason-internal_error"] == 1


def test_a_defect_costs_the_row_it_is_about(
    settings: BuildSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Screening.sources

    def sources(self: Screening, rows: list[Row]) -> Screened:
        if any("defect" in row["cuda_source"] and not row["reason"] for row in rows):
            raise RuntimeError("a bug of ours")
        return whole(self, rows)

    monkeypatch.setattr(Screening, "sources", sources)
    monkeypatch.setattr(ReadPieces.__init__, "__defaults__", (PROBE,))
    tally, _ = built(settings)
    assert (tally.rows, tally.pairs) == (6, 3)
    found = {row["path"]: row["reason"] for row in read_rows(settings.out, "rejects")}
    assert found == {
        "1deadly.cu": "worker_died",
        "3defect.cu": "internal_error",
        "5.cu": "too_short",
    }
