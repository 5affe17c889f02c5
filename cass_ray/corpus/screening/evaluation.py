"""What must not be in training data: the benchmark's programs and any evaluation list given.

An evaluation list is a Parquet file (columns of a data set: ``cuda_source``, ``hip_source``,
``opencl_source``, ``cuda_device``, ``repository``; those that it has are used), a text file with
one repository (``owner/name``) a line, or a folder of programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cass_ray.config import SettingsError
from cass_ray.corpus.reading.state import file_state, tree_state

TASKS_FOLDER = Path(__file__).resolve().parents[2] / "bench" / "tasks"
TASK_FILE = "task.yaml"

CANARY = "cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901"
"""In every file of the benchmark; whatever holds it came from there."""

_PROGRAMS = (".cu", ".hip", ".cuh", ".cl", ".cpp", ".h", ".hpp")
_SOURCE_COLUMNS = ("cuda_source", "hip_source", "opencl_source")
_COLUMNS = (*_SOURCE_COLUMNS, "cuda_device", "repository", "filename")


@dataclass(frozen=True, slots=True)
class EvaluationProgram:
    """One text that is tested on."""

    name: str
    """For messages: the path within the benchmark, or the file and row of a list."""
    source: str = ""
    sass: str = ""
    repository: str = ""
    path: Path | None = None
    """The file, where the program is one."""


class EvaluationError(SettingsError):
    """The benchmark or a list cannot be loaded; the message says which file and why."""


def list_state(path: Path) -> str:
    """What tells this content of an evaluation list from another one."""
    return tree_state(path) if path.is_dir() else file_state(path)


def benchmark_programs(root: Path = TASKS_FOLDER) -> list[EvaluationProgram]:
    """Every source file of every task, both languages.

    Raises :class:`EvaluationError` when there is no task: data without decontamination must be
    asked for.
    """
    folders = sorted(path.parent for path in root.glob(f"*/*/{TASK_FILE}"))
    if not folders:
        raise EvaluationError(
            f"no benchmark task below {root}: training data cannot be kept apart from the"
            " benchmark. Install cass-ray with its data files, or turn this off with"
            " --set decontamination.benchmark=false"
        )
    return [
        EvaluationProgram(f"benchmark:{path.relative_to(root)}", _read(path), path=path)
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.suffix in _PROGRAMS and path.is_file()
    ]


def listed_programs(list_path: Path) -> Iterator[EvaluationProgram]:
    """What the evaluation list at ``list_path`` names. Raises :class:`EvaluationError`."""
    if list_path.is_dir():
        yield from _folder(list_path)
    elif list_path.suffix == ".parquet":
        yield from _parquet(list_path)
    elif list_path.suffix == ".txt":
        for line in _read(list_path).splitlines():
            name = line.partition("#")[0].strip()
            if name:
                yield EvaluationProgram(f"{list_path.name}:{name}", repository=name)
    else:
        raise EvaluationError(
            f"{list_path}: an evaluation list is a folder of programs, a .parquet file with source"
            " columns, or a .txt file with a repository a line"
        )


def _folder(folder: Path) -> Iterator[EvaluationProgram]:
    paths = sorted(path for path in folder.rglob("*") if path.suffix in _PROGRAMS)
    if not paths:
        raise EvaluationError(f"{folder}: no program ({', '.join(_PROGRAMS)}) in this folder")
    for path in paths:
        name = f"{folder.name}/{path.relative_to(folder)}"
        yield EvaluationProgram(name, _read(path), path=path)


def _parquet(path: Path) -> Iterator[EvaluationProgram]:
    try:
        file = pq.ParquetFile(path)
        columns = [name for name in file.schema_arrow.names if name in _COLUMNS]
        if not set(columns) - {"filename"}:
            raise EvaluationError(f"{path}: none of the columns {', '.join(_COLUMNS)}")
        row = 0
        for batch in file.iter_batches(batch_size=64, columns=columns):
            for values in batch.to_pylist():
                yield from _programs_of(f"{path.name}[{row}]", values)
                row += 1
    except (OSError, pa.ArrowException) as error:
        raise EvaluationError(f"{path}: {error}") from None


def _programs_of(name: str, values: dict[str, str | None]) -> Iterator[EvaluationProgram]:
    for column in _SOURCE_COLUMNS:
        if source := values.get(column):
            yield EvaluationProgram(f"{name}.{column}", source)
    if listing := values.get("cuda_device"):
        yield EvaluationProgram(f"{name}.cuda_device", sass=listing)
    if repository := values.get("repository"):
        yield EvaluationProgram(name, repository=repository)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise EvaluationError(f"{path}: {error.strerror}") from None
