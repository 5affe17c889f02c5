"""Command lines of compilers, as build systems write them."""

from __future__ import annotations

import json

import pytest

from cass_ray.builds.commands import (
    Recorded,
    UnitCommand,
    newer_standard,
    read_compile_commands,
    read_record,
    units_of,
)

ROOT = "/cass/source"


def unit(*arguments: str, directory: str = ROOT, source: str = "a.cu") -> UnitCommand:
    recorded = Recorded(
        compiler="nvcc", directory=directory, arguments=list(arguments), sources=[source]
    )
    [found] = units_of(recorded, ROOT)
    return found


@pytest.mark.parametrize(
    ("arguments", "folders"),
    [
        (["-Iinclude"], ("include",)),
        (["-I", "include", "-isystem", "third/x"], ("include", "third/x")),
        (["--include-path=include", "--system-include", "lib"], ("include", "lib")),
        (["-I."], (".",)),
        (["-I/cass/source/build", "-I/usr/include/eigen3", "-I../elsewhere"], ("build",)),
        (["-Xcompiler", "-Ione,-Itwo"], ("one", "two")),
        (["--compiler-options=-Ione -Itwo"], ("one", "two")),
        (["-Ione", "-Itwo", "-Ione"], ("one", "two")),
        (
            ["-I", "-I", "-Ione", "-I", "-DA", "-Itwo"],
            ("one", "two"),
        ),  # empty variables
    ],
)
def test_include_folders_are_of_the_tree_and_in_order(
    arguments: list[str], folders: tuple[str, ...]
) -> None:
    assert unit(*arguments).include_directories == folders


@pytest.mark.parametrize(
    ("arguments", "definitions"),
    [
        (["-DGPU"], ("GPU",)),
        (["-D", "GPU=1"], ("GPU=1",)),
        (["--define-macro", "A=2", "--define-macro=B"], ("A=2", "B")),
        (["-DA", "-DB", "-UA"], ("B",)),
        (["-DA=1", "-DA=2"], ("A=2",)),
        (['-DNAME="x y"'], ('NAME="x y"',)),
        (["-Xcompiler", "-DINNER", "-DOUTER"], ("INNER", "OUTER")),
        # Empty: "#if with no expression" in every header of libstdc++.
        (["-D_GLIBCXX_USE_CXX11_ABI=", "-DA="], ("A=",)),
        (["-Xcompiler", "-D_GLIBCXX_USE_CXX11_ABI="], ()),
        (
            ["-D", "_GLIBCXX_USE_CXX11_ABI=", "-D_GLIBCXX_USE_CXX11_ABI=0"],
            ("_GLIBCXX_USE_CXX11_ABI=0",),
        ),
        (
            ["-D_GLIBCXX_USE_CXX11_ABI=1", "-D_GLIBCXX_USE_CXX11_ABI="],
            ("_GLIBCXX_USE_CXX11_ABI=1",),
        ),
        (["-D_GLIBCXX_USE_CXX11_ABI"], ("_GLIBCXX_USE_CXX11_ABI",)),
    ],
)
def test_definitions_are_those_that_are_left(
    arguments: list[str], definitions: tuple[str, ...]
) -> None:
    assert unit(*arguments).definitions == definitions


def test_values_of_options_are_no_options() -> None:
    found = unit(
        "-gencode", "arch=compute_80,code=sm_80", "-o", "-Inot", "-std=c++17", "-MF", "-Dx"
    )

    assert found.include_directories == ()
    assert found.definitions == ()
    assert found.standard == "c++17"


def test_a_build_in_a_folder_names_sources_from_there() -> None:
    found = unit("-I../include", directory=f"{ROOT}/build", source="../src/a.cu")

    assert found.source == "src/a.cu"
    assert found.include_directories == ("include",)


def test_sources_outside_and_lines_that_are_not_understood_are_left_out() -> None:
    lines = [
        "not json",
        json.dumps({"compiler": "nvcc"}),
        json.dumps(
            {"compiler": "nvcc", "directory": "/", "arguments": [], "sources": ["/etc/passwd"]}
        ),
        json.dumps(
            {"compiler": "nvcc", "directory": ROOT, "arguments": [], "sources": ["../x.cu", "a.cu"]}
        ),
    ]

    assert list(read_record("\n".join(lines), ROOT)) == ["a.cu"]


def test_of_two_commands_for_one_source_nvccs_is_taken() -> None:
    lines = [
        json.dumps({"compiler": c, "directory": ROOT, "arguments": [d], "sources": ["a.cu"]})
        for c, d in (("g++", "-DHOST"), ("nvcc", "-DFIRST"), ("nvcc", "-DSECOND"))
    ]

    assert read_record("\n".join(lines), ROOT)["a.cu"].definitions == ("FIRST",)


def test_compile_commands_of_another_machine_are_matched_by_the_end_of_their_paths() -> None:
    text = json.dumps(
        [
            {
                "directory": "/home/who/project/build",
                "command": "nvcc -DX=1 -I/home/who/project/inc -I/opt/y -c ../src/a.cu",
                "file": "../src/a.cu",
            },
            {"directory": "/home/who/project/build", "file": 7},
        ]
    )

    found = read_compile_commands(text, lambda path: path == "src/a.cu")

    assert found["src/a.cu"].include_directories == ("inc",)
    assert found["src/a.cu"].definitions == ("X=1",)


@pytest.mark.parametrize("text", ["", "{", "7", "[]", '[{"file": "a.cu"}]', "[" * 100_000])
def test_compile_commands_that_are_none_give_nothing(text: str) -> None:
    assert read_compile_commands(text, lambda path: True) == {}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("c++20", "c++20"),
        ("gnu++20", "c++20"),
        ("c++2a", "c++20"),
        ("C++23", "c++20"),
        ("c++17", ""),
        ("gnu++14", ""),
        ("c++0x", ""),
        ("c11", ""),
        ("", ""),
        ("c++20 -fplugin=x", ""),
    ],
)
def test_standards_that_are_newer_than_17(written: str, expected: str) -> None:
    assert newer_standard(written) == expected
