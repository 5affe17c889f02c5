"""A worker of the build on a real node: rows and trees from the coordinator, and deadly rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray

from actors.coordinator import ATTEMPTS, Coordinator
from actors.stage_workers import WORKERS, SourceTranslator, StageWorker
from actors.staged_rows import staged_blocks
from cass_ray.dataset.schema import is_rejected
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import WORK_SCHEMA
from cass_ray.pipeline.stages.order import STAGES, Pool

NAME = "coordinator of the test"
GOOD = "__global__ void k(int *p) { *p = 1; }\nint main() { cudaFree(0); }\n"
BAD = '__global__ void k(int *p) { asm("no.such.instruction %0;" : "=r"(*p)); }\n'


@pytest.fixture
def settings(tmp_path: Path) -> BuildSettings:
    return BuildSettings(sources=["shipped"], out=tmp_path, cache=False)


@pytest.fixture
def worker(node: None, settings: BuildSettings, tmp_path: Path) -> Iterator[StageWorker]:
    coordinator = ray.remote(Coordinator).options(name=NAME).remote(str(tmp_path / "trees"))
    ray.get(coordinator.begin_batch.remote("none", []))  # it is there
    yield SourceTranslator(settings, NAME)
    ray.kill(coordinator)


def row(id_: str, source: str) -> dict[str, Any]:
    empty: dict[str, Any] = dict.fromkeys(WORK_SCHEMA.names)
    return {
        **empty,
        "id": id_,
        "path": f"{id_}.cu",
        "cuda_source": source,
        "opencl_source": "",
        "tree": "",
        "stage": "",
        "reason": "",
    }


def table(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=WORK_SCHEMA)


def test_every_pool_has_a_worker() -> None:
    assert set(WORKERS) == set(Pool) == {each.pool for each in STAGES}


def test_rows_come_back_in_order_translated_or_rejected(worker: StageWorker) -> None:
    made = worker(table(row("a", GOOD), row("b", BAD), row("c", GOOD)))
    assert made.schema == WORK_SCHEMA
    first, second, third = made.to_pylist()
    assert [each["id"] for each in (first, second, third)] == ["a", "b", "c"]
    assert "hipFree(0)" in first["hip_source"]
    assert third["hip_source"] == first["hip_source"]
    assert (second["stage"], second["reason"]) == ("translate", "untranslatable")


def test_a_block_that_says_where_its_rows_are(worker: StageWorker, tmp_path: Path) -> None:
    folder = tmp_path / "staged"
    folder.mkdir()
    pq.write_table(table(*(row(f"r{n}", GOOD) for n in range(3))), folder / "part-0.parquet")
    first, second = staged_blocks(folder, rows_per_block=2)
    assert [each["id"] for each in worker(first).to_pylist()] == ["r0", "r1"]
    (last,) = worker(second).to_pylist()
    assert last["id"] == "r2"
    assert "hipFree(0)" in last["hip_source"]


def test_a_row_that_kills_its_worker_is_tried_alone_then_rejected(worker: StageWorker) -> None:
    """A batch begun before means that a worker died on it."""
    for _ in range(1 + ATTEMPTS):
        (made,) = worker(table(row("deadly", GOOD))).to_pylist()
        assert not is_rejected(made)
    (made,) = worker(table(row("deadly", GOOD))).to_pylist()
    assert (made["stage"], made["reason"]) == ("translate", "worker_died")
    (other,) = worker(table(row("harmless", GOOD))).to_pylist()
    assert not is_rejected(other)
