"""How far rows came, and what stopped them."""

from __future__ import annotations

from typing import Any

import pytest

from cass_ray.pipeline.funnel import Funnel, what_stopped


def row(stage: str = "", reason: str = "", diagnostic: str = "", **more: Any) -> dict[str, Any]:
    return {
        "repository": "a/b",
        "path": "a.cu",
        "configured": "recorded",
        "stage": stage,
        "reason": reason,
        "diagnostic": diagnostic,
        "verified": "compiled",
        **more,
    }


def test_each_row_counts_as_far_as_it_came() -> None:
    funnel = Funnel()
    for each in (
        row(),
        row(verified="executed", configured="inferred"),
        row("deduplicate", "near_duplicate"),
        row("translate", "untranslatable", "a.cu:1:1: error: cuX looks like CUDA and is not known"),
        row("compile_nvidia", "no_device_code"),
        row("align", "library_kernels_only", "6 kernels of CUB and Thrust"),
        row("compile_amd", "compile_error", "clang: a.cu:1:1: error: expected ';'"),
        row(configured=""),
        row(lifted_side={"stage": "translate", "reason": "untranslatable", "diagnostic": "x"}),
    ):
        funnel.add(each)

    assert funnel.as_dict()["repositories"] == {
        "a/b": {
            "units": 8,
            "configured": 7,
            "distinct": 7,
            "translated": 5,
            "cuda": 5,
            "amd": 3,
            "pairs": 2,
            "executed": 1,
            "lifted": 1,
            "no device code": 1,
            "library kernels": 1,
        }
    }
    assert {each["what"] for each in funnel.as_dict()["unlocks"]} == {
        "name cuX (translate)",
        "compile_amd: expected ';'",
        "translate: untranslatable",
    }


@pytest.mark.parametrize(
    ("diagnostic", "what"),
    [
        ("g++: a/b.cu:1:10: fatal error: NvInfer.h: No such file or directory", "header NvInfer.h"),
        ("clang (device): b.hip:2:10: fatal error: 'x/y.h' file not found", "header x/y.h"),
        ('cicc: a.cu(3): error: identifier "f" is undefined', "name f (compile_nvidia)"),
        ("clang: a.cu:1:1: error: use of undeclared identifier 'g'", "name g (compile_nvidia)"),
        ('cicc: a.cu(3): error: expected a ";"', 'compile_nvidia: expected a ";"'),
        ("ended", "compile_nvidia: compile_error"),
        # What follows the first error may be due to it.
        (
            "clang: In file included from a.cu:1:\n/x/y/ATen/core/strings.h:5:1: error: expected"
            " '='\n  5 | X\na.cu:2:1: error: use of undeclared identifier 'later'",
            "compile_nvidia: expected '=' in ATen/core/strings.h",
        ),
        (
            'cicc: ./b/c.cuh(12): error: class "P" has no member "m"\na.cu(3): error: no',
            "name m (compile_nvidia)",
        ),
        (
            "g++: ./b/c.h:1:2: error: 'f' was not declared in this scope",
            "name f (compile_nvidia)",
        ),
        ("clang (device): ./a.cu:1:2: error: no", "compile_nvidia: no"),
        ("ld.lld: error: undefined symbol: f", "compile_nvidia: undefined symbol: f"),
    ],
)
def test_what_stopped_a_row_is_named(diagnostic: str, what: str) -> None:
    assert what_stopped(row("compile_nvidia", "compile_error", diagnostic)) == what


def test_counts_of_parts_add_up() -> None:
    one, two = Funnel(), Funnel()
    one.add(row(header_packages=["torch-1"]))
    two.add(row("compile_amd", "compile_error", "x"))

    one.merge(two)

    assert one.steps["a/b"]["units"] == 2
    assert one.headers == {"torch-1"}


def test_other_repositories_that_rows_need() -> None:
    funnel, other = Funnel(), Funnel()
    lacks = [
        "submodule fmt (https://github.com/f/fmt): not reached; give it by --dependency fmt=DIR"
    ]
    missing = "clang: a.cu:1:1: fatal error: 'fmt/core.h' file not found"
    funnel.add(row("compile_nvidia", "missing_header", missing, lacks=lacks))
    other.add(row("compile_nvidia", "missing_header", missing, lacks=lacks))
    other.add(row("compile_amd", "compile_error", "clang: a.cu:1:1: error: no", lacks=lacks))
    other.add(row(dependencies=["json@123: fetched"]))
    funnel.merge(other)
    made = funnel.as_dict()
    assert made["unlocks"][0] == {"repository": "a/b", "what": f"dependency {lacks[0]}", "rows": 2}
    assert made["unlocks"][1]["what"] == "compile_amd: no"
    assert made["dependencies"] == [{"repository": "a/b", "what": "json@123: fetched", "rows": 1}]


EIGEN = "submodule eigen (https://x.y/e): not reached; give it by --dependency eigen=DIR"
ITSELF = "CPMAddPackage b (no address): not reached; give it by --dependency b=DIR"


@pytest.mark.parametrize(
    ("header", "what"),
    [
        ("Eigen/Core", f"dependency {EIGEN}"),
        ("eigen/Core", f"dependency {EIGEN}"),
        ("stdgpu/config.h", "header stdgpu/config.h"),
        ("b/config.cuh", "header b/config.cuh"),  # the project's own, which its build writes
        ("helper.h", f"dependency {EIGEN}"),  # of which nothing says where it is
    ],
)
def test_a_header_is_of_the_dependency_that_is_called_like_its_folder(
    header: str, what: str
) -> None:
    diagnostic = f"clang: a.cu:1:1: fatal error: '{header}' file not found"
    stopped = row("compile_amd", "missing_header", diagnostic, lacks=[EIGEN, ITSELF])
    assert what_stopped(stopped) == what
