"""Compilers' work played back: recorded once, then a pause and the recorded output."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from actors.stage_workers import StageWorker
from cass_ray.corpus.generate.program import generate
from cass_ray.dataset.row import Stage
from cass_ray.pipeline.pieces.work import BuildWork
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import WORK_SCHEMA, Row, RowStage
from cass_ray.pipeline.stages.order import (
    Pool,
    StageContext,
    make_stages,
    run_stages,
    wanted_pools,
    wanted_stages,
)
from cass_ray.pipeline.workspace import Workspace

_KEPT_COLUMNS = ("id", "cuda_source", "path", "filename", "block", "tree", "include_directories")


class Recorded(BaseModel):
    """What one program took in each pool, and the columns that it left with."""

    model_config = ConfigDict(extra="forbid")

    seconds: dict[str, float]
    columns: dict[str, Any]


class Recording(BaseModel):
    """Of several programs."""

    model_config = ConfigDict(extra="forbid")

    programs: list[Recorded]

    def of(self, row_id: str) -> Recorded:
        """The program that stands for a row."""
        return self.programs[int(row_id[:8], 16) % len(self.programs)]


def record(settings: BuildSettings, rows: Sequence[Row]) -> Recording:
    """Compile ``rows`` for both sides, here and now."""
    workspace = Workspace(lambda digest: b"")
    context = StageContext(settings, workspace, None)
    found = [Recorded(seconds={}, columns={}) for _ in rows]
    for pools in wanted_pools(settings):
        stages = make_stages(wanted_stages(settings, pools), context)
        run_stages(stages, [dict(rows[0])])  # headers are compiled once
        for place, row in enumerate(rows):
            began = time.monotonic()
            (made,) = run_stages(stages, [{**row, **found[place].columns}])
            found[place].seconds[pools[-1].value] = time.monotonic() - began
            found[place].columns.update(
                {k: v for k, v in made.items() if k not in _KEPT_COLUMNS and k in WORK_SCHEMA.names}
            )
    return Recording(programs=found)


def programs_to_record(count: int) -> list[Row]:
    """Rows of generated programs, as sources yield them."""
    rows = []
    for number, program in enumerate(generate(count, 3)):
        row: Row = dict.fromkeys(WORK_SCHEMA.names)
        row |= {"id": f"{number:064x}", "path": f"{number}.cu", "filename": f"{number}.cu"}
        row |= {"cuda_source": program.source, "tree": "", "include_directories": []}
        rows.append({**row, "stage": "", "reason": "", "diagnostic": "", "duplicate_of": ""})
    return rows


class _Pause:
    """A stage: so many seconds, then the recorded columns."""

    def __init__(self, recording: Recording, pool: Pool, times: float) -> None:
        self._recording = recording
        self._pool = pool.value
        self._times = times

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """As long as all of them took, so many times."""
        known = [self._recording.of(row["id"]) for row in rows]
        time.sleep(self._times * sum(each.seconds[self._pool] for each in known))
        return [{**row, **each.columns} for row, each in zip(rows, known, strict=True)]


class ReplayWorker(StageWorker):
    """A worker of a pool whose compilers are played back from ``recording``."""

    recording: ClassVar[Path]
    times: ClassVar[float]

    def __init__(
        self,
        work: BuildWork,
        coordinator: str,
        pools: Sequence[Pool],
        commits: bool,
        keeps: bool = False,
    ) -> None:
        super().__init__(work, coordinator, (), commits, keeps)
        self._recording = Recording.model_validate_json(self.recording.read_text())

    def _stages(self) -> Sequence[RowStage]:
        return [_Pause(self._recording, self.pool, self.times)]

    def _table(self, rows: list[Row]) -> pa.Table:
        return pa.Table.from_pylist(rows, schema=self.schema)


def workers(recording: Path, times: float = 1.0) -> dict[Pool, type[StageWorker]]:
    """A class for each compiler's pool, whose pauses are ``times`` what was recorded."""
    blames = {
        Pool.NVIDIA_COMPILER: Stage.COMPILE_NVIDIA,
        Pool.AMD_COMPILER: Stage.COMPILE_AMD,
    }
    return {
        pool: type(
            f"Replayed{pool.name.title().replace('_', '')}",
            (ReplayWorker,),
            {"pool": pool, "blame": blame, "recording": recording, "times": times},
        )
        for pool, blame in blames.items()
    }
