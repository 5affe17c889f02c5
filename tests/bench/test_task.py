"""Task folders: what is loaded, and what is refused with which words."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cass_ray.bench.authoring.index import SASS_ARCHITECTURES, read_index, stale, task_facts
from cass_ray.bench.authoring.lint import Linter, check_collection
from cass_ray.bench.features import CATEGORIES, slug
from cass_ray.bench.predecessor import load_predecessor
from cass_ray.bench.task import (
    CANARY,
    BenchTask,
    ComparisonSettings,
    TaskError,
    load_task,
    load_tasks,
    task_folders,
)
from tests.bench.conftest import CUDA, HIP, MakeTask


def test_a_task_has_both_programs_and_its_inputs(task: BenchTask) -> None:
    assert task.name == "sum_of_squares"
    assert set(task.cuda.files) == {"main.cu"}
    assert set(task.hip.files) == {"main.hip"}
    assert [inputs.arguments for inputs in task.visible] == [(), ("33", "3")]
    assert [inputs.arguments for inputs in task.hidden] == [("777", "12"), ("4099", "5")]


def test_headers_belong_to_the_program_that_includes_them(make_task: MakeTask) -> None:
    files = {
        "main.cu": CUDA.replace("#include <cstdio>", '#include "kernel.cuh"\n#include <cstdio>'),
        "main.hip": HIP.replace("#include <cstdio>", '#include "port.h"\n#include <cstdio>'),
        "kernel.cuh": '#include "plain.h"\n__device__ int f() { return __shfl_sync(~0u, 1, 0); }\n',
        "plain.h": "constexpr int size = 4;\n",
        "port.h": '#include "plain.h"\n',
    }
    task = load_task(make_task(files))
    assert set(task.cuda.files) == {"main.cu", "kernel.cuh", "plain.h"}
    assert set(task.hip.files) == {"main.hip", "port.h", "plain.h"}
    # A header without anything of CUDA's is nobody's work.
    assert task.translated_files == ("main.cu", "kernel.cuh")


def test_its_name_changes_with_any_file_or_setting(make_task: MakeTask) -> None:
    first = load_task(make_task())
    again = load_task(make_task())
    other_text = load_task(make_task({"main.hip": HIP + "\n"}))
    other_setting = load_task(make_task({"main.hip": HIP}, difficulty="hard"))
    assert first.id == again.id
    assert len({first.id, other_text.id, other_setting.id}) == 3


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"category": "Linear Algebr"}, "did you mean `Linear Algebra`"),
        ({"features": ["atomics64"]}, "did you mean `atomics_64`"),
        ({"hiden_arguments": []}, "unknown key `hiden_arguments`; did you mean `hidden_arguments`"),
        ({"hidden_arguments": [["1", "2"]]}, "at least 2"),
        ({"hidden_arguments": [["33", "3"], ["1"]]}, "listed twice"),
        ({"sources": ["../other.cu"]}, "not inside the task's folder"),
        ({"sources": ["missing.cu"]}, "missing.cu is not in the folder"),
        ({"category": "Graph"}, "belongs into the folder graph"),
    ],
)
def test_bad_settings_are_refused(
    make_task: MakeTask, changed: dict[str, object], words: str
) -> None:
    with pytest.raises(TaskError, match=re.escape(words)):
        load_task(make_task(**changed))


def test_patterns_choose_tasks(make_task: MakeTask) -> None:
    root = make_task().parent.parent
    make_task(name="another_task")
    assert [task.name for task in load_tasks(root)] == ["another_task", "sum_of_squares"]
    assert [task.name for task in load_tasks(root, ["sum*"])] == ["sum_of_squares"]
    assert len(load_tasks(root, ["basic_operations"])) == 2
    with pytest.raises(TaskError, match="did you mean `sum_of_squares`"):
        load_tasks(root, ["sum_of_square"])


def test_tolerances_are_by_the_type_the_program_computes_with() -> None:
    settings = ComparisonSettings(float32=1e-3)
    assert settings.tolerance(["__global__ void k(float* p) {}"]).relative == 1e-3
    assert settings.tolerance(["__global__ void k(double* p) {}"]).relative == 1e-9


def test_static_lint_finds_what_is_missing(make_task: MakeTask) -> None:
    files = {"main.cu": CUDA.replace(CANARY, "no canary"), "unused.h": ""}
    found = Linter().check(load_task(make_task(files)))
    assert any("first line is not" in problem for problem in found.problems)
    assert any("unused.h: no program" in problem for problem in found.problems)
    assert len(found.problems) == 2


@pytest.mark.amd
def test_lint_runs_the_port(make_task: MakeTask, compilers: object) -> None:
    from cass_ray.bench.programs import Compilers

    assert isinstance(compilers, Compilers)
    linter = Linter(backend=compilers.backend)
    assert linter.check(load_task(make_task())).problems == []
    deaf = HIP.replace("argc > 1 ?", "argc > 99 ?").replace("argc > 2 ?", "argc > 99 ?")
    problems = linter.check(load_task(make_task({"main.hip": deaf}))).problems
    assert any("prints the same as with none" in problem for problem in problems)


def test_collection_counts_categories(task: BenchTask) -> None:
    found = check_collection([task])
    assert "Basic Operations: 1 of 6 tasks" in found.problems
    assert "Graph: 0 of 6 tasks" in found.problems


def test_every_shipped_task_is_sound() -> None:
    """The shipped tasks, without compiling anything."""
    tasks = load_tasks()
    assert len(tasks) == len(task_folders()) >= 108
    problems = [f"{task.name}: {text}" for task in tasks for text in Linter().check(task).problems]
    assert problems == []
    assert check_collection(tasks).problems == []
    assert {slug(task.spec.category) for task in tasks} == set(map(slug, CATEGORIES))


def test_the_predecessor_loads_from_parquet(tmp_path: Path) -> None:
    rows = [
        {
            "filename": "bench/Vector Add.cu",
            "cuda_source": CUDA,
            "hip_source": HIP,
            "category": "vector operations",
            "output": "numbers 3\n",
        },
        {
            "filename": "x.cu",
            "cuda_source": CUDA,
            "hip_source": HIP,
            "category": "",
            "output": None,
        },
    ]
    path = tmp_path / "bench.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    first, second = load_predecessor(str(path))
    assert (first.name, first.spec.category) == ("task_vector_add", "Vector Operations")
    assert first.expected == (b"numbers 3\n",)
    assert first.hidden == ()
    assert second.expected == ()
    assert second.cuda.files == {"main.cu": CUDA.encode()}


def test_a_data_set_without_the_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bench.parquet"
    pq.write_table(pa.table({"cuda_sources": ["x"], "hip_source": ["y"]}), path)
    with pytest.raises(TaskError, match="no column cuda_source; did you mean `cuda_sources`"):
        load_predecessor(str(path))


def test_the_index_knows_every_shipped_task_as_it_is() -> None:
    tasks = load_tasks()
    assert stale(tasks, read_index()) == []
    for task in tasks:
        facts = task_facts(task)
        assert facts is not None
        assert set(facts.sass_lines) == set(SASS_ARCHITECTURES)
