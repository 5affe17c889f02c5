"""What a task is: its file ``task.yaml``, its folder, and loading all of them.

``cass_ray/bench/tasks/CATEGORY/NAME`` holds ``task.yaml``, the CUDA program, the HIP program that
serves as its reference port, and headers of both. A program is one translation unit: ``main.cu``
includes its other files. :class:`BenchTask` has everything; what a translator
may see is :class:`cass_ray.bench.prompt.Question`, which knows no hidden argument and no output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Literal

import yaml
from pydantic import Field, field_validator, model_validator

from cass_ray.bench.features import CATEGORIES, FEATURES, slug
from cass_ray.cache import digest
from cass_ray.config import SettingsError, StrictModel, validate
from cass_ray.corpus.reading.includes import Include, include_closure, scan_includes
from cass_ray.corpus.reading.source_files import GivenDirectories, Sources
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.comparison.compare import BF16, F16, F32, F64, Tolerance
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.nearest import did_you_mean
from cass_ray.toolchain.sandbox.executable import Bounds

TASKS_FOLDER = Path(__file__).parent / "tasks"

CANARY = "cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901"
"""Marks benchmark text, so that it can be kept out of training data and looked for in models."""

TASK_FILE = "task.yaml"
NAME_PATTERN = r"^[a-z][a-z0-9_]{2,59}$"
_CUDA_WORDS = re.compile(
    r"\b(?:cuda[A-Z_]\w*|cu[A-Z]\w*|curand\w*|thrust|cub|nvcuda|asm|__asm__|__nv_\w+|warpSize)\b"
    r"|_sync\b|<<<|#\s*include\s*<(?:cu|cooperative_groups|mma)|__CUDA"
)
"""What a port may have to change in a header."""


class TaskError(ValueError):
    """A task folder that cannot be used; the message names it and says what to do."""


class Difficulty(StrEnum):
    """How much a port has to know."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class ComparisonSettings(StrictModel):
    """How outputs are compared.

    ``exact`` asks for the same bytes. ``numeric`` allows floats to differ by the relative tolerance
    of the least precise type that the CUDA source computes with; ``float16``, ``float32`` and
    ``float64`` replace the default of that type. ``order_free`` compares lines as a multiset.
    """

    kind: Literal["exact", "numeric"] = "numeric"
    float16: float | None = Field(default=None, gt=0, le=0.1)
    float32: float | None = Field(default=None, gt=0, le=0.01)
    float64: float | None = Field(default=None, gt=0, le=0.01)
    order_free: bool = False

    def tolerance(self, sources: Iterable[str]) -> Tolerance:
        default = tolerance_for(sources)
        half = dict.fromkeys((BF16.name, F16.name), self.float16)
        given = {**half, F32.name: self.float32, F64.name: self.float64}
        relative = given[default.name]
        if relative is None:
            return default
        return Tolerance(default.name, relative, default.absolute)


class TaskLimits(StrictModel):
    """Limits of one run of a candidate; ``seconds`` are of CPU time."""

    seconds: float = Field(default=20.0, ge=1, le=120)
    memory_mib: int = Field(default=2048, ge=256, le=8192)

    def bounds(self) -> Bounds:
        """For the sandbox. The clock on the wall is generous: machines have other work too."""
        return Bounds(
            wall_seconds=6 * self.seconds,
            cpu_seconds=self.seconds,
            memory_bytes=self.memory_mib << 20,
        )


class TaskSpec(StrictModel):
    """What ``task.yaml`` of a benchmark task holds."""

    name: str = Field(pattern=NAME_PATTERN)
    category: str
    difficulty: Difficulty
    features: list[str] = Field(min_length=1)
    description: str = Field(min_length=10, max_length=300)
    arguments: list[list[str]] = Field(min_length=2)
    """Argument lists that anyone may know; the first is the default."""
    hidden_arguments: list[list[str]] = Field(min_length=2)
    """Argument lists that no translator is ever told."""
    comparison: ComparisonSettings = ComparisonSettings()
    limits: TaskLimits = TaskLimits()
    sources: list[str] = Field(default=["main.cu"], min_length=1)
    """The files that are translated, the one with ``main`` first."""
    hip_sources: list[str] = Field(default=["main.hip"], min_length=1)
    opencl_sources: list[str] = Field(default=[], max_length=1)
    """OpenCL C whose kernels the HIP host launches: the task is then about that device code, and
    asked at the assembly level only. The CUDA program is its twin, which ran on the GPU."""

    @field_validator("category")
    @classmethod
    def _known_category(cls, value: str) -> str:
        if value not in CATEGORIES:
            raise ValueError(f"no such category; {did_you_mean(value, CATEGORIES)}")
        return value

    @field_validator("features")
    @classmethod
    def _known_features(cls, value: list[str]) -> list[str]:
        for feature in value:
            if feature not in FEATURES:
                hint = did_you_mean(feature, FEATURES)
                raise ValueError(f"{feature}: not in cass_ray/bench/features.py; {hint}")
        if len(set(value)) != len(value):
            raise ValueError("a feature is named twice")
        return value

    @field_validator("sources", "hip_sources", "opencl_sources")
    @classmethod
    def _inside(cls, value: list[str]) -> list[str]:
        for name in value:
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                raise ValueError(f"{name} is not inside the task's folder")
        return value

    @model_validator(mode="after")
    def _distinct_arguments(self) -> TaskSpec:
        lists = [tuple(each) for each in (*self.arguments, *self.hidden_arguments)]
        twice = next((each for each in lists if lists.count(each) > 1), None)
        if twice is not None:
            raise ValueError(f"the arguments {list(twice)} are listed twice")
        return self


@dataclass(frozen=True)
class BenchTask:
    """A task with its files. ``files`` are contents by path relative to its folder."""

    spec: TaskSpec
    files: dict[str, bytes]
    origin: str = "cass-bench"
    """Where it is from: ours, or another data set's name."""
    expected: tuple[bytes, ...] = ()
    """Outputs on the visible arguments where they come with the task (other data sets)."""

    @property
    def name(self) -> str:
        """Unique over all tasks."""
        return self.spec.name

    @cached_property
    def id(self) -> str:
        """Digest of every file of the task: results of different texts are never mixed."""
        parts: list[str | bytes] = []
        for path, content in sorted(self.files.items()):
            parts += [path, content]
        return digest([*parts, self.spec.model_dump_json()])

    @cached_property
    def cuda(self) -> Sources:
        """The CUDA program: its source files and what they include from the folder."""
        return self._program(self.spec.sources)

    @cached_property
    def hip(self) -> Sources:
        return self._program(self.spec.hip_sources)

    @cached_property
    def opencl(self) -> Sources | None:
        """The OpenCL program that the device code is compiled from, in place of CUDA's and HIP's;
        None of all but OpenCL tasks."""
        if not self.spec.opencl_sources:
            return None
        return self._program(self.spec.opencl_sources)

    @cached_property
    def translated_files(self) -> tuple[str, ...]:
        """Files of the CUDA program that a system has to translate: sources, and headers that hold
        anything of CUDA's; other headers are taken as they are."""
        headers = [
            path
            for path, content in self.cuda.files.items()
            if path not in self.spec.sources
            and _CUDA_WORDS.search(content.decode("utf-8", "replace"))
        ]
        return (*self.spec.sources, *headers)

    def _program(self, sources: Sequence[str]) -> Sources:
        paths: dict[str, None] = {}
        for source in sources:
            paths |= dict.fromkeys([source, *_included(source, self.files)])
        files = {path: self.files[path] for path in paths}
        return Sources(PurePosixPath(sources[0]), files, (PurePosixPath("."),))

    @property
    def visible(self) -> tuple[Inputs, ...]:
        """Inputs that anyone may know."""
        return tuple(Inputs(tuple(each)) for each in self.spec.arguments)

    @property
    def hidden(self) -> tuple[Inputs, ...]:
        """Inputs that are never shown."""
        return tuple(Inputs(tuple(each)) for each in self.spec.hidden_arguments)

    @cached_property
    def tolerance(self) -> Tolerance:
        """The declared tolerance, else that of the types of the CUDA program."""
        texts = [content.decode("utf-8", "replace") for content in self.cuda.files.values()]
        return self.spec.comparison.tolerance(texts)


def _included(source: str, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Paths in ``files`` that ``source`` includes, directly or not."""

    def includes_of(path: str) -> list[Include] | None:
        content = files.get(path)
        return None if content is None else scan_includes(content.decode("utf-8", "replace"))

    closure = include_closure(source, includes_of, files.__contains__, _TASK_FOLDER)
    return tuple(closure.files)


_TASK_FOLDER = GivenDirectories((".",))
"""The task's folder is the one include directory."""


def load_task(folder: Path) -> BenchTask:
    """The task in ``folder``. Raises :class:`TaskError`."""
    path = folder / TASK_FILE
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TaskError(f"{path}: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise TaskError(f"{path}: not YAML: {error}") from None
    if not isinstance(values, dict):
        raise TaskError(f"{path}: expected a mapping")
    try:
        spec = validate(TaskSpec, values, str(path))
    except SettingsError as error:
        raise TaskError(str(error)) from None
    files = {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.name.startswith(".")
    }
    if spec.name != folder.name:
        raise TaskError(f"{path}: the name is {spec.name}, the folder's {folder.name}")
    if slug(spec.category) != folder.parent.name:
        raise TaskError(f"{path}: {spec.category} belongs into the folder {slug(spec.category)}")
    for name in (*spec.sources, *spec.hip_sources, *spec.opencl_sources):
        if name not in files:
            raise TaskError(f"{path}: {name} is not in the folder")
    return BenchTask(spec, files)


def task_folders(root: Path = TASKS_FOLDER) -> list[Path]:
    """Folders with a ``task.yaml``, sorted."""
    return sorted(path.parent for path in root.glob(f"*/*/{TASK_FILE}"))


def load_tasks(root: Path = TASKS_FOLDER, only: Sequence[str] = ()) -> list[BenchTask]:
    """Every task below ``root``, or those whose name or category (as a slug) matches one of
    ``only`` (shell patterns).

    Raises :class:`TaskError` for a bad task, a name that occurs twice, or a pattern without a task.
    """
    result: dict[str, BenchTask] = {}
    used: set[str] = set()
    for folder in task_folders(root):
        matching = {each for each in only if _matches(folder, each)}
        used |= matching
        if only and not matching:
            continue
        task = load_task(folder)
        if task.name in result:
            raise TaskError(f"{folder}: another task is called {task.name}")
        result[task.name] = task
    for pattern in only:
        if pattern not in used:
            names = [folder.name for folder in task_folders(root)]
            raise TaskError(f"no task matches {pattern!r}; {did_you_mean(pattern, names)}")
    return list(result.values())


def loadable_tasks(root: Path = TASKS_FOLDER) -> tuple[list[BenchTask], dict[str, str]]:
    """Every task that can be loaded, and what is wrong with the others, by folder name."""
    tasks: list[BenchTask] = []
    broken: dict[str, str] = {}
    for folder in task_folders(root):
        try:
            tasks.append(load_task(folder))
        except TaskError as error:
            broken[folder.name] = str(error)
    return tasks, broken


def _matches(folder: Path, pattern: str) -> bool:
    expression = "".join(".*" if mark == "*" else re.escape(mark) for mark in pattern)
    return any(
        re.fullmatch(expression, text) is not None
        for text in (folder.name, folder.parent.name, f"{folder.parent.name}/{folder.name}")
    )
