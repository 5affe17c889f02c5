"""Rejection sampling: the model's own translations that run right become new training pairs.

Execution is the reward: a sample counts when it compiles, runs to its end on every input of the
reference and prints what the CUDA side printed (:mod:`cass_ray.execute`). A second round of
supervised training then learns from what the model found by itself.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from cass_ray.dataset.row import Verified, is_rejected
from cass_ray.pipeline.stages.align import AlignStage
from cass_ray.pipeline.stages.execute import ExecuteStage
from cass_ray.pipeline.stages.reference import reference_of
from cass_ray.task import Level, Task
from cass_ray.temporary import temporary_prefix
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.train.data.examples import is_held_out

Row = dict[str, Any]


class Sampler(Protocol):
    """A model that answers (:class:`cass_ray.translate.engines.model.ModelTranslator`)."""

    def samples(self, source: str, task: Task, number: int | None = None) -> list[Any]:
        """Answers with ``code`` and ``cut``."""
        ...


class TranslationJudge(Protocol):
    """Says whether a translation is right."""

    def judge(self, row: Mapping[str, Any], hip_source: str) -> tuple[Row | None, str]:
        """``row`` with this translation, verified, or None and why not."""
        ...


@dataclass
class ExecutionJudge:
    """Compiles a translation, runs it and compares, in the sandbox."""

    toolchain: AmdToolchain
    stage: ExecuteStage

    def judge(self, row: Mapping[str, Any], hip_source: str) -> tuple[Row | None, str]:
        if reference_of(dict(row)) is None:
            return None, "no reference output"
        with tempfile.TemporaryDirectory(prefix=temporary_prefix("sample")) as folder:
            main = PurePosixPath(row["filename"] or "program.cu").with_suffix(".hip").name
            (Path(folder) / main).write_text(hip_source)
            unit = Unit(Path(folder), PurePosixPath(main), (PurePosixPath("."),))
            try:
                output = self.toolchain.compile(unit)
            except CompileFailure as failure:
                return None, failure.reason.value
        made = {
            "hip_source": hip_source,
            "hip_host": output.host_assembly,
            "hip_device": output.device_assembly,
            "level": Level.SOURCE.value,
            "lifted_side": None,
        }
        [candidate] = AlignStage().run([{**row, **made}])
        if not is_rejected(candidate):
            [candidate] = self.stage.run([candidate])
        if is_rejected(candidate):
            return None, str(candidate["reason"])
        if candidate["verified"] != Verified.EXECUTED:
            return None, "not verified"
        return candidate, ""


@dataclass
class RejectionSampler:
    """Samples several translations of every program and keeps one that is right and new."""

    sampler: Sampler
    judge: TranslationJudge
    samples: int
    held_out: float
    """Share of the programs that are never sampled from: those that training keeps to measure."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Samples by outcome: ``right``, ``known``, ``no code``, or why not."""

    def rows(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
        """A verified pair for each program that the model translates in a way of its own."""
        for row in rows:
            if is_held_out(row["id"], self.held_out):
                continue
            found = self._first_right(row)
            if found is not None:
                yield found

    def _first_right(self, row: Mapping[str, Any]) -> Row | None:
        seen = {_normal(row["hip_source"] or "")}
        for answer in self.sampler.samples(row["cuda_source"], Task(), self.samples):
            if answer.code is None or answer.cut:
                self.outcomes["no code"] += 1
                continue
            key = _normal(answer.code)
            if key in seen:
                self.outcomes["known"] += 1
                continue
            seen.add(key)
            verified, reason = self.judge.judge(row, answer.code)
            self.outcomes[reason or "right"] += 1
            if verified is not None:
                return verified
        return None


def _normal(source: str) -> str:
    """Spacing does not make a translation another one."""
    return " ".join(source.split())
