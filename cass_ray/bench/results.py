"""Result files: one line a sample, with all that scoring needs, so that it can be done again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from cass_ray.bench.compile_errors import ErrorClass
from cass_ray.bench.question import BenchAnswer, BenchLevel, Draw, HostPart, QuestionKind
from cass_ray.bench.references import Truth
from cass_ray.bench.task import BenchTask, Difficulty
from cass_ray.cache import digest
from cass_ray.config import SettingsError, StrictModel, explain
from cass_ray.dataset.row import Reason
from cass_ray.execute.evidence.exploits import ExploitFinding
from cass_ray.execute.verification import RunRecord
from cass_ray.task import Direction

SAMPLES_FILE = "samples.jsonl"
KEPT_OUTPUT = 1 << 16
"""Bytes of each run's output that a result keeps."""


class BenchRun(StrictModel):
    """One run of a candidate; ``hidden`` says that no system knew its input."""

    hidden: bool
    record: RunRecord


class Judgement(StrictModel):
    """What became of one answer.

    ``exact`` and ``numeric`` are about the visible inputs, ``hidden_…`` about the others, None
    where there are none or nothing could run. ``passed``: verified (see
    :class:`~cass_ray.execute.grades.Grade`) and right on every input by the task's own comparison.
    """

    answered: bool = True
    compiled: bool = False
    executed: bool = False
    exact: bool | None = None
    numeric: bool | None = None
    hidden_exact: bool | None = None
    hidden_numeric: bool | None = None
    passed: bool = False
    grade: str = ""
    """In the words of :class:`~cass_ray.execute.grades.Grade`; empty where nothing ran."""
    reason: Reason | None = None
    tool: str = ""
    diagnostic: str = ""
    errors: list[ErrorClass] = Field(default_factory=list)
    runs: list[BenchRun] = Field(default_factory=list)
    findings: list[ExploitFinding] = Field(default_factory=list)
    host: HostPart | None = None
    """Whose host code translated device code ran under; None where the host was translated too."""
    truth: Truth | None = None
    reference: str = ""
    backend: str = ""
    problem: str = ""
    """Why there is no verdict, though it is not the answer's fault."""
    seconds: float = 0.0


class BenchSample(StrictModel):
    """One answer of one system to one task."""

    system: str
    system_version: str
    level: BenchLevel
    direction: Direction
    architecture: str = ""
    tags: dict[str, str] = Field(default_factory=dict)
    task: str
    task_id: str
    category: str
    difficulty: Difficulty
    features: list[str]
    sass_lines: int | None = None
    sample: int = 0
    seed: int = 0
    temperature: float = 0.0
    answer: BenchAnswer
    judgement: Judgement
    chrf: float | None = None

    @property
    def id(self) -> str:
        kind = QuestionKind(self.level, self.direction, self.architecture)
        draw = Draw(self.sample, self.seed, self.temperature)
        return sample_id(self.system, self.system_version, self.task_id, kind, draw, self.tags)


TARGET_TAG = "amd"
"""The processor that answers were compiled for, where it is not the default."""


def sample_id(
    system: str,
    version: str,
    task_id: str,
    kind: QuestionKind,
    draw: Draw,
    tags: Mapping[str, str],
) -> str:
    """Digest of everything that decides what a sample is; of ``tags`` the processor."""
    drawn = f"{draw.sample} {draw.seed} {draw.temperature:g}"
    target = [tags[TARGET_TAG]] if TARGET_TAG in tags else []
    return digest(["sample", system, version, task_id, str(kind), drawn, *target])


def new_sample(
    task: BenchTask,
    kind: QuestionKind,
    system: tuple[str, str],
    draw: Draw,
    answer: BenchAnswer,
    judgement: Judgement,
    **more: object,
) -> BenchSample:
    """A result; ``system`` is name and version, ``more`` what has a default."""
    return BenchSample.model_validate(
        {
            "system": system[0],
            "system_version": system[1],
            "level": kind.level,
            "direction": kind.direction,
            "architecture": kind.architecture,
            "task": task.name,
            "task_id": task.id,
            "category": task.spec.category,
            "difficulty": task.spec.difficulty,
            "features": task.spec.features,
            "sample": draw.sample,
            "seed": draw.seed,
            "temperature": draw.temperature,
            "answer": answer,
            "judgement": judgement,
            **more,
        }
    )


def write_samples(path: Path, samples: Iterable[BenchSample]) -> int:
    """Write ``samples``, whole or not at all; how many there were."""
    part = path.with_suffix(".part")
    count = 0
    with part.open("w", encoding="utf-8") as file:
        for sample in samples:
            file.write(sample.model_dump_json(exclude_defaults=True) + "\n")
            count += 1
    part.replace(path)
    return count


def read_samples(path: Path) -> Iterator[BenchSample]:
    """The samples in a file, or in ``samples.jsonl`` of a folder.

    Raises :class:`SettingsError` naming the line that cannot be read, :class:`OSError`.
    """
    file = path / SAMPLES_FILE if path.is_dir() else path
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield BenchSample.model_validate(json.loads(line))
            except ValidationError as error:
                raise SettingsError(explain(error, BenchSample, f"{file}:{number}")) from None
            except ValueError as error:
                raise SettingsError(f"{file}:{number}: not JSON: {error}") from None
