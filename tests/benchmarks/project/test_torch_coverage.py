"""Which names of PyTorch's headers are there: from a library that is compiled here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.project import torch_coverage as coverage

TORCH = """\
namespace c10::cuda {
int device_count() { return 1; }
void set_device(int) {}
inline int twice(int x) { return 2 * x; }
int (*kept)(int) = &twice;
template <class T> T made(T x) { return x; }
template int made<int>(int);
struct Graph { Graph(); void replay(); };
Graph::Graph() {}
void Graph::replay() {}
}
namespace at { int zeros() { return 0; } }
"""


def library(folder: Path, text: str) -> Path:
    source = folder / "a.cpp"
    source.write_text(text)
    made = folder / "liba.so"
    subprocess.run(["g++", "-shared", "-fPIC", str(source), "-o", str(made)], check=True)
    return made


def test_names_that_a_library_defines(tmp_path: Path) -> None:
    found = coverage.exported(library(tmp_path, TORCH))
    assert found == {
        *("c10::cuda::device_count", "c10::cuda::set_device", "c10::cuda::kept"),
        *("c10::cuda::made", "c10::cuda::Graph::Graph", "c10::cuda::Graph::replay"),
    }


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("c10::cuda::device_count", "c10/cuda/CUDAFunctions.h"),
        ("c10::cuda::Graph::replay", "c10/cuda/Graph.h"),
        ("c10::cuda::made", "c10/cuda/Graph.h"),
        ("c10::cuda::hidden", None),
    ],
)
def test_the_header_that_declares_a_name(name: str, header: str | None) -> None:
    texts = {
        "c10/cuda/A.h": "inline int f() { return device_count(); }\nvoid g() { x.replay(); }",
        "c10/cuda/CUDAFunctions.h": "C10_CUDA_API int device_count();",
        "c10/cuda/Graph.h": "struct C10_CUDA_API Graph { void replay(); };\nint x = made<int>(3);",
    }
    assert coverage.declaring(name, texts) == header


def test_functions_that_refuse_are_known_by_their_bodies() -> None:
    code = """
    Handle getHandle() { refuse("a handle"); }
    Graph::Graph(bool) : stream_(current(0)) {
      refuse("a graph");
    }
    void enable(bool) override {}
    void share(int) const override { TORCH_CHECK_NOT_IMPLEMENTED(false, "x"); }
    """
    assert set(coverage._REFUSED.findall(code)) == {"getHandle", "Graph", "share"}


def test_the_table_counts_what_it_lists() -> None:
    found = {"x.h": coverage.Header({"a"}, {"b", "c"}, set()), "y.h": coverage.Header()}
    lines = list(coverage.table(found, {"x.h": "no member named 'y'", "y.h": ""}))
    assert lines[2] == "| `x.h` | no member named 'y' | `a` | `b`, `c` |  |"
    assert lines[3:] == ["| 2 headers, 1 of them alone | 1 of 2 | 1 | 2 | 0 |"]
    assert list(coverage.table(found, {}))[2:] == [
        "| `x.h` | `a` | `b`, `c` |  |",
        "| 2 headers, 1 of them alone | 1 | 2 | 0 |",
    ]
