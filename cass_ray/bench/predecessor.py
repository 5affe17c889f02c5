"""The published predecessor (``MBZUAI/cass-bench`` on the Hugging Face hub) as tasks.

Its rows are programs without arguments. The columns are those of the CASS data set
(``filename, cuda_source, hip_source``); a category and the expected output are taken where a column
has one of the names below. Without an expected output a task is judged against its HIP source's own
run, and results say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cass_ray.bench.features import CATEGORIES
from cass_ray.bench.task import BenchTask, Difficulty, TaskError, TaskSpec
from cass_ray.nearest import did_you_mean

PREDECESSOR = "MBZUAI/cass-bench"
DEFAULT_CATEGORY = "Basic Operations"
_CATEGORY_COLUMNS = ("category", "domain", "type")
_OUTPUT_COLUMNS = ("output", "expected_output", "stdout", "cuda_output")
_REQUIRED = ("cuda_source", "hip_source")


def load_predecessor(source: str = PREDECESSOR) -> list[BenchTask]:
    """Tasks of a data set on the hub, or of a local Parquet file or folder.

    Raises :class:`TaskError` when it cannot be reached or lacks a column.
    """
    from datasets import load_dataset

    try:
        if source.endswith(".parquet"):
            rows = load_dataset("parquet", data_files=source, split="train")
        else:
            rows = load_dataset(source, split="train")
    except Exception as error:  # the library raises what its back ends raise
        raise TaskError(f"{source}: cannot be loaded: {type(error).__name__}: {error}") from None
    for column in _REQUIRED:
        if column not in rows.column_names:
            hint = did_you_mean(column, rows.column_names)
            raise TaskError(f"{source}: no column {column}; {hint}")
    return list(_tasks(rows, source))


def _tasks(rows: Any, source: str) -> Iterator[BenchTask]:
    names: set[str] = set()
    for number, row in enumerate(rows):
        name = _name(row.get("filename") or f"task_{number}")
        if name in names:
            name = f"{name[:50]}_{number}"
        names.add(name)
        yield _task(name, row, source)


def _name(filename: str) -> str:
    stem = filename.rpartition("/")[2].partition(".")[0].lower()
    clean = re.sub(r"[^a-z0-9]+", "_", stem).strip("_")
    return f"task_{clean}"[:60]


def _task(name: str, row: Mapping[str, Any], source: str) -> BenchTask:
    category = next((row[key] for key in _CATEGORY_COLUMNS if row.get(key)), "")
    output = next((row[key] for key in _OUTPUT_COLUMNS if row.get(key) is not None), None)
    categories = {each.lower(): each for each in CATEGORIES}
    spec = TaskSpec.model_construct(
        name=name,
        category=categories.get(str(category).lower(), str(category) or DEFAULT_CATEGORY),
        difficulty=Difficulty.MEDIUM,
        features=["basic_kernel"],
        description=f"from {source}",
        arguments=[[]],
        hidden_arguments=[],
    )
    files = {"main.cu": row["cuda_source"].encode(), "main.hip": row["hip_source"].encode()}
    expected = () if output is None else (str(output).encode(),)
    return BenchTask(spec, files, origin=source, expected=expected)
