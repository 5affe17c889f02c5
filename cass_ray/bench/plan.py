"""What a benchmark run consists of: its settings, and every sample it has to make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field, field_validator, model_validator

from cass_ray.architectures import (
    AMD_ARCHITECTURES,
    DEFAULT_AMD_ARCHITECTURE,
    DEFAULT_NVIDIA_ARCHITECTURE,
    architecture_named,
    known_architecture,
)
from cass_ray.bench.authoring.index import SASS_ARCHITECTURES
from cass_ray.bench.programs import can_ask
from cass_ray.bench.question import BenchLevel, Draw, Question, QuestionKind
from cass_ray.bench.results import TARGET_TAG, sample_id
from cass_ray.bench.systems import REPAIR_SUFFIX, Description
from cass_ray.bench.task import TASKS_FOLDER, BenchTask
from cass_ray.config import StrictModel
from cass_ray.storage.location import Location
from cass_ray.task import Direction

IN_PROCESS = ("reference", "echo", "rules", "answers:")
"""Systems that take milliseconds for a source file: the driver asks them itself."""


class UploadSettings(StrictModel):
    """Where results go when a run has ended."""

    url: Location
    """A folder, or ``s3://…``, ``gs://…``, ``az://…``; each run is a folder there."""
    keep: int = Field(default=10, ge=1)
    """The newest so many stay."""


class BenchSettings(StrictModel):
    """What ``cass bench`` does."""

    systems: list[str] = Field(min_length=1)
    """``rules``, ``rules+repair``, ``hipify-perl``, ``lift``, ``model:PATH``, ``chat:MODEL``,
    ``answers:FILE.jsonl``, ``reference``, ``echo``."""
    out: Path
    level: BenchLevel = BenchLevel.SOURCE
    direction: Direction = Direction.CUDA_TO_HIP
    architectures: list[str] = [DEFAULT_NVIDIA_ARCHITECTURE]
    """Processors whose SASS is asked about at the assembly level."""
    amd_architecture: str = DEFAULT_AMD_ARCHITECTURE
    """What answers are compiled for and run as. Other than the default it is also a tag (``amd``),
    so that reports have a column for each."""
    tasks: list[str] = []
    """Names or categories, with ``*`` as a wildcard; all of them by default."""
    tasks_folder: Path = TASKS_FOLDER
    dataset: str = ""
    """In place of our tasks: a data set on the hub such as ``MBZUAI/cass-bench``, or a Parquet
    file."""
    samples: int = Field(default=1, ge=1, le=1000)
    """Answers that a system which samples gives to each task."""
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    seed: int = Field(default=0, ge=0)
    tags: dict[str, str] = {}
    """Written into every result; reports compare runs by them, ``step`` plots training."""
    cache: bool = True
    """Reuse compilations and verdicts of earlier runs from the node's content cache."""
    cluster: bool = True
    """Use Ray; without it, threads of this process do the work."""
    slots: int | None = Field(default=None, ge=1)
    """Of a local cluster, or threads without one; default: the number of cores."""
    chat_requests: int = Field(default=8, ge=1, le=1000)
    """Requests of a ``chat:`` system at a time."""
    compare: list[Path] = []
    """Earlier results that the report tests these against."""
    publish: UploadSettings | None = None
    """Also copy the results there."""

    @field_validator("architectures")
    @classmethod
    def _known(cls, value: list[str]) -> list[str]:
        names = [architecture_named(name) for name in value]
        return [known_architecture(name, SASS_ARCHITECTURES) for name in names]

    @field_validator("amd_architecture")
    @classmethod
    def _known_processor(cls, value: str) -> str:
        return known_architecture(architecture_named(value), AMD_ARCHITECTURES)

    @model_validator(mode="after")
    def _one_way(self) -> BenchSettings:
        if self.level is BenchLevel.HOST and self.direction is not Direction.CUDA_TO_HIP:
            raise ValueError("host assembly is translated from CUDA to HIP only")
        return self

    @property
    def all_tags(self) -> dict[str, str]:
        """The tags of every result: those that were given, and the processor."""
        if self.amd_architecture == DEFAULT_AMD_ARCHITECTURE:
            return self.tags
        return {**self.tags, TARGET_TAG: self.amd_architecture}

    @property
    def kinds(self) -> list[QuestionKind]:
        if self.level is not BenchLevel.ASSEMBLY:
            return [QuestionKind(self.level, self.direction)]
        return [QuestionKind(self.level, self.direction, name) for name in self.architectures]


@dataclass(frozen=True)
class Item:
    """One sample to make. It says nothing of inputs and outputs, so that it can go anywhere."""

    id: str
    task: str
    system: str
    version: str
    kind: QuestionKind
    draw: Draw
    tags: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """An item with its question; ``problem`` where there is none."""

    item: Item
    question: Question | None = None
    problem: str = ""


def plan(
    settings: BenchSettings, tasks: Sequence[BenchTask], systems: Sequence[Description]
) -> list[Item]:
    """Every sample, tasks outermost, so that the texts of a task are used together."""
    items = []
    for task in tasks:
        for kind in (each for each in settings.kinds if can_ask(task, each)):
            for system in systems:
                count = settings.samples if system.samples else 1
                for number in range(count):
                    draw = Draw(number, settings.seed + number, settings.temperature)
                    version, tags = system.version, settings.all_tags
                    name = sample_id(system.name, version, task.id, kind, draw, tags)
                    items.append(Item(name, task.name, system.name, version, kind, draw, tags))
    return items


def in_process(item: Item) -> bool:
    """Whether the driver answers this one."""
    repaired = item.system.endswith(REPAIR_SUFFIX)
    return (
        item.kind.level is BenchLevel.SOURCE and item.system.startswith(IN_PROCESS) and not repaired
    )
