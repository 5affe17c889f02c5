"""A worker of the build on a real node: rows from the store, blocks committed, and deadly rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import ray

from actors.coordinator import ATTEMPTS, Coordinator
from actors.stage_workers import (
    HALF_DONE_SCHEMA,
    WORKERS,
    SourceTranslator,
    StageWorker,
    named_blocks,
)
from cass_ray.dataset.row import is_rejected
from cass_ray.pipeline.pieces.blocks import blocks_of_run
from cass_ray.pipeline.pieces.duplicates import DUPLICATES_SCHEMA
from cass_ray.pipeline.pieces.read import rows_part
from cass_ray.pipeline.pieces.work import BuildWork, Deduplicated
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import WORK_SCHEMA
from cass_ray.pipeline.stages.order import STAGES, Pool
from cass_ray.storage.store import Store
from cass_ray.toolchain.errors import ToolMissing

NAME = "coordinator of the test"
GOOD = "__global__ void k(int *p) { *p = 1; }\nint main() { cudaFree(0); }\n"
BAD = '__global__ void k(int *p) { asm("no.such.instruction %0;" : "=r"(*p)); }\n'


@pytest.fixture
def work(tmp_path: Path) -> BuildWork:
    settings = BuildSettings(sources=["shipped"], out=tmp_path, cache=False)
    return BuildWork(Store(tmp_path / "work"), settings)


@pytest.fixture
def worker(node: None, work: BuildWork) -> Iterator[StageWorker]:
    coordinator = ray.remote(Coordinator).options(name=NAME).remote()
    ray.get(coordinator.begin_batch.remote("none", []))  # it is there
    yield SourceTranslator(work, NAME, [Pool.TRANSLATOR], commits=False)
    ray.kill(coordinator)


def row(id_: str, source: str) -> dict[str, Any]:
    empty: dict[str, Any] = dict.fromkeys(WORK_SCHEMA.names)
    return {
        **empty,
        "id": hashlib.sha256(id_.encode()).hexdigest(),
        "path": f"{id_}.cu",
        "block": f"000000-ab-00000-000-{id_}",
        "cuda_source": source,
        "opencl_source": "",
        "tree": "",
        "stage": "",
        "reason": "",
    }


def table(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=WORK_SCHEMA)


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [each["path"].removesuffix(".cu") for each in rows]


def decided(work: BuildWork, *rows: dict[str, Any]) -> Deduplicated:
    """A piece with one run of ``rows``, none of them a duplicate."""
    piece = Deduplicated(0, "000000-ab", "000000-cd")
    draft = work.pieces.draft(piece.read)
    draft.write_table(rows_part(0), table(*rows))
    draft.commit(**{"rows": len(rows), "rows-0": len(rows), "live-0": len(rows)})
    draft = work.duplicates.draft(piece.key)
    draft.write_table("duplicates", pa.Table.from_pylist([], schema=DUPLICATES_SCHEMA))
    draft.commit()
    return piece


def test_every_pool_has_a_worker() -> None:
    assert set(WORKERS) == set(Pool) == {each.pool for each in STAGES}


def test_the_driver_learns_what_a_worker_lacks(
    worker: StageWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray makes an error of its own of one in a worker, with a text of many lines."""
    coordinator = ray.get_actor(NAME)
    assert ray.get(coordinator.problem.remote()) is None

    def lacking(*arguments: object) -> None:
        raise ToolMissing("nvcc", "Run `make setup`.")

    monkeypatch.setattr("actors.stage_workers.make_stages", lacking)
    with pytest.raises(ToolMissing):
        worker(table(row("any", GOOD)))
    assert str(ray.get(coordinator.problem.remote())) == "nvcc is missing. Run `make setup`."


def test_rows_come_back_in_order_translated_or_rejected(worker: StageWorker) -> None:
    made = worker(table(row("a", GOOD), row("b", BAD), row("c", GOOD)))
    assert made.schema == WORK_SCHEMA
    first, second, third = made.to_pylist()
    assert names([first, second, third]) == ["a", "b", "c"]
    assert "hipFree(0)" in first["hip_source"]
    assert third["hip_source"] == first["hip_source"]
    assert (second["stage"], second["reason"]) == ("translate", "untranslatable")


def test_blocks_by_name_are_read_and_committed(node: None, work: BuildWork) -> None:
    piece = decided(work, *(row(f"r{n}", GOOD if n else BAD) for n in range(3)))
    first, second = blocks_of_run(piece.key, 0, 3, rows_per_block=2)
    coordinator = ray.remote(Coordinator).options(name=NAME).remote()
    ray.get(coordinator.begin_batch.remote("none", []))
    worker = SourceTranslator(work, NAME, [Pool.TRANSLATOR], commits=True)
    made = worker(named_blocks([(piece.read, second.key)])).to_pylist()
    assert [(each["block"], dict(each["counts"])) for each in made] == [
        (second.key, {"rows": 1, "pairs": 1})
    ]
    entry = work.blocks.get(second.key)
    assert entry is not None
    (last,) = work.blocks.table(entry.parts["rows"]).to_pylist()
    assert names([last]) == ["r2"]
    assert "hipFree(0)" in last["hip_source"]
    assert work.blocks.keys() == [second.key]
    (counts,) = worker(named_blocks([(piece.read, first.key)])).column("counts").to_pylist()
    assert dict(counts) == {"rows": 2, "pairs": 1, "reason-untranslatable": 1}
    ray.kill(coordinator)


def test_rows_that_are_kept_are_what_the_next_workers_finish(
    worker: StageWorker, work: BuildWork
) -> None:
    piece = decided(work, *(row(f"r{n}", GOOD) for n in range(3)))
    blocks = list(blocks_of_run(piece.key, 0, 3, rows_per_block=2))
    first = SourceTranslator(work, NAME, [Pool.TRANSLATOR], commits=False, keeps=True)
    last = SourceTranslator(work, NAME, [Pool.TRANSLATOR], commits=True, keeps=True)
    names_of = [(piece.read, block.key) for block in blocks]
    half = first(named_blocks(names_of))
    again = first(named_blocks(names_of))  # by another worker, after the first died too late
    assert half.schema == HALF_DONE_SCHEMA
    assert half == again
    counts = [dict(each["counts"]) for each in last(half).to_pylist()]
    assert counts == [{"rows": 2, "pairs": 2}, {"rows": 1, "pairs": 1}]
    direct = worker(named_blocks(names_of[1:])).to_pylist()
    entry = work.blocks.get(blocks[1].key)
    assert entry is not None
    (stored,) = work.blocks.table(entry.parts["rows"]).to_pylist()
    assert stored["hip_source"] == direct[0]["hip_source"]


def test_a_row_that_kills_its_worker_is_tried_alone_then_rejected(worker: StageWorker) -> None:
    """A block that was begun and not ended means that a worker died on it."""
    coordinator, pool = ray.get_actor(NAME), worker.pool.value
    here = ray.get_runtime_context().get_node_id()
    harmless, deadly = row("harmless", GOOD), row("deadly", GOOD)
    deadly["block"] = harmless["block"]
    for _ in range(ATTEMPTS):
        ray.get(coordinator.begin_batch.remote(pool, [deadly["block"]]))
        ray.get(coordinator.begin_row.remote(pool, deadly["id"], here))  # and there it died
        first, _ = worker(table(harmless, {**deadly, "reason": "too_long"})).to_pylist()
        assert not is_rejected(first)
    ray.get(coordinator.begin_batch.remote(pool, [deadly["block"]]))
    first, second = worker(table(harmless, deadly)).to_pylist()
    assert not is_rejected(first)
    assert (second["stage"], second["reason"]) == ("translate", "worker_died")
    (other,) = worker(table(row("other", GOOD))).to_pylist()
    assert not is_rejected(other)
