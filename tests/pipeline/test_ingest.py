"""Ingestion: every row read is staged or rejected early, with findings for what was taken out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cass_ray.corpus.reading.trees import DirectoryTreeStore
from cass_ray.corpus.screening.evaluation import CANARY, benchmark_programs
from cass_ray.corpus.screening.screening import Screening
from cass_ray.dataset.duplicates_report import write_removed_rows
from cass_ray.dataset.schema import REJECT_SCHEMA
from cass_ray.pipeline.cached_run import CachedRun
from cass_ray.pipeline.ingest import Ingestion, read_sources
from cass_ray.pipeline.journal import Journal
from cass_ray.pipeline.report import Tally
from cass_ray.pipeline.settings import BuildSettings
from tests.corpus.conftest import write_files
from tests.corpus.screening.test_screening import program


def test_rows_in_are_rows_out_and_planted_copies_are_named(tmp_path: Path) -> None:
    name, source = next(
        (each.name, each.source) for each in benchmark_programs() if each.name.endswith("main.cu")
    )
    write_files(
        tmp_path / "in",
        {
            "a.cu": program("alpha"),
            "b.cu": program("alpha"),
            "c.cu": program("alpha").replace("alpha_3 ", "alpha_2 "),
            "d.cu": program("delta"),
            "e.cu": "int x;\n",
            "planted.cu": source.replace(CANARY, "someone else"),
            "whole.cu": source,
        },
    )
    write_files(tmp_path / "cl", {"k.cl": "__kernel void k(__global int *p) {\n" + "\n" * 12 + "}"})
    settings = BuildSettings(
        sources=[f"local:{tmp_path / 'in'}", f"opencl:{tmp_path / 'cl'}"], out=tmp_path / "out"
    )
    work = tmp_path / "work"
    screening = Screening(settings)
    journal = Journal(work / "journal", REJECT_SCHEMA)
    rows = read_sources(settings, work, DirectoryTreeStore(work / "trees"))
    ingestion = Ingestion(screening, work, journal, lambda row: row, lambda row: None)
    seen: list[dict[str, str]] = []
    ingested = ingestion.run(rows, seen.append)

    assert len(ingested.order) == 8
    assert ingested.staged_rows + len(seen) == 8
    assert {row["path"]: row["reason"] for row in seen} == {
        "b.cu": "exact_duplicate",
        "c.cu": "near_duplicate",
        "e.cu": "too_short",
        "planted.cu": "benchmark_overlap",
        "whole.cu": "benchmark_overlap",
        "k.cl": "boilerplate",
    }
    tally = Tally()
    for row in seen:
        tally.add(row)
    assert (tally.duplicates.total(), tally.rejects.total()) == (2, 4)

    found = screening.findings
    write_removed_rows(tmp_path, found.duplicates, found.overlaps)
    removed = pq.read_table(tmp_path / "decontamination.parquet").to_pylist()
    assert {(line["path"], line["level"]) for line in removed} == {
        ("planted.cu", "source"),
        ("whole.cu", "canary"),
    }
    (planted,) = [line for line in removed if line["level"] == "source"]
    assert planted["repeats"] == name and planted["similarity"] > 0.9
    kept = pq.read_table(work / "staged").column("path").to_pylist()
    assert kept == ["a.cu", "d.cu"]


def test_sources_alone_are_pairs_that_nothing_was_compiled_of(tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    write_files(
        folder,
        {
            "LICENSE": "",
            "a.cu": "#include <cuda_runtime.h>\n" + program("alpha"),
            "b.cuh": "#include <cuda_runtime.h>\n" + program("beta"),
            "c.cu": program("gamma")
            + '__device__ void f() { asm("wgmma.fence.sync.aligned;"); }\n',
        },
    )
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], check=True)
    settings = BuildSettings(
        sources=[f"repository:{folder}"], out=tmp_path / "out", compile=False, cache=False
    )
    work, trees = tmp_path / "work", DirectoryTreeStore(tmp_path / "work" / "trees")
    run = CachedRun.on_this_machine(settings, trees)
    journal = Journal(work / "journal", REJECT_SCHEMA)
    ingestion = Ingestion(Screening(settings), work, journal, run.prepare, run.finish)

    ingested = ingestion.run(read_sources(settings, work, trees))
    rows = {row["path"]: row for row in ingested.in_order(journal)}

    assert ingested.staged_rows == 0
    assert set(rows) == {"a.cu", "b.cuh", "c.cu"}
    assert rows["c.cu"]["reason"] == "untranslatable"
    for path in ("a.cu", "b.cuh"):
        assert rows[path]["verified"] == "none"
        assert "hip/hip_runtime.h" in rows[path]["hip_source"]


def test_sources_alone_cannot_be_run() -> None:
    with pytest.raises(ValueError, match="need `compile`"):
        BuildSettings(sources=["shipped"], out=Path("x"), compile=False, execute=True)
    with pytest.raises(ValueError, match="too slow"):
        BuildSettings(sources=["shipped"], out=Path("x"), compile=False, translator="chat:x")
