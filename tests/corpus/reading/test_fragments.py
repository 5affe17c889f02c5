"""CUDA files that are compiled as parts of others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from cass_ray.builds.commands import UnitCommand
from cass_ray.corpus.program import Program, Provenance, ReadReject
from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.fragments import (
    fragments,
    implementations,
    included_by_others,
)
from cass_ray.corpus.reading.programs import ProgramReader
from cass_ray.corpus.reading.trees import PackedTree
from cass_ray.corpus.reading.units import TreeUnits
from cass_ray.dataset.row import Origin, Reason
from tests.corpus.conftest import write_files

KERNEL = "__global__ void k(Int *x) { *x = 1; }\n"


@pytest.mark.parametrize(
    ("files", "compiled", "parts"),
    [
        # SparseConvNet: setup.py compiles cuda.cu, which includes the files of a folder.
        ({"cuda.cu": '#include "CUDA/a.cu"\n', "CUDA/a.cu": KERNEL}, ["cuda.cu"], {"CUDA/a.cu"}),
        # A test includes a unit of its own: the test is not compiled.
        ({"test.cu": '#include "a.cu"\n', "a.cu": KERNEL}, ["b.cu"], set()),
        ({"test.cu": '#include "a.cu"\n', "a.cu": KERNEL}, ["a.cu", "test.cu"], set()),
        (
            {"m.cpp": '# include "a.cu"\n', "a.cu": "#include <b.cu>\n", "src/b.cu": KERNEL},
            ["m.cpp"],
            {"a.cu", "src/b.cu"},
        ),
        ({"m.cu": '// #include "x"\n#include "a.cu"\n#include "../o.cu"\n'}, ["m.cu"], set()),
        (
            {"m.cu": '#include "m.cu"\n#include "n.cu"\n', "n.cu": '#include "m.cu"\n'},
            ["m.cu"],
            {"n.cu"},
        ),
    ],
)
def test_parts(tmp_path: Path, files: dict[str, str], compiled: list[str], parts: set[str]) -> None:
    write_files(tmp_path, dict(files))
    assert set(fragments(DirectoryTree(tmp_path), compiled, 1 << 20, ["src"])) == parts


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        # MPPI-Generic: a header with templates ends with the file of their definitions.
        ({"c.cuh": '#include "c.cu"\n', "c.cu": '#include "c.cuh"\n'}, {"c.cu": "c.cuh"}),
        ({"c.cuh": '#include "c.cu"\n', "c.cu": "template <class T> void C<T>::f() {}\n"},
         {"c.cu": "c.cuh"}),
        (
            {"include/m/c.cuh": "#include <m/c.cu>\n",
             "include/m/c.cu": "#include <m/other.h>\n#include <m/c.cuh>\n"},
            {"include/m/c.cu": "include/m/c.cuh"},
        ),
        # A file that includes what it needs itself may be compiled alone as well.
        ({"all.h": '#include "a.cu"\n', "a.cu": '#include "b.h"\n', "b.h": "int b;\n"}, {}),
        # Other CUDA files that include it: a test, or one unit of all.
        ({"test.cu": '#include "a.cu"\n', "a.cu": KERNEL}, {}),
        ({"c.cuh": '#include "absent.cu"\n', "a.cu": KERNEL}, {}),
        ({"c.cuh": '#include "a.cu"\n', "x/a.cu": KERNEL, "y/a.cu": KERNEL}, {}),
    ],
)  # fmt: skip
def test_second_halves_of_headers(
    tmp_path: Path, files: dict[str, str], parts: dict[str, str]
) -> None:
    write_files(tmp_path, dict(files))
    assert implementations(DirectoryTree(tmp_path), 1 << 20) == parts


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        ({"main.cu": '#include "a.cu"\n', "a.cu": KERNEL}, {"a.cu": "main.cu"}),
        ({"main.cpp": '#include "k/a.cu"\n', "k/a.cu": KERNEL}, {"k/a.cu": "main.cpp"}),
        ({"src/m.cu": "#include <lib/a.cu>\n", "x/lib/a.cu": KERNEL}, {"x/lib/a.cu": "src/m.cu"}),
        ({"all.h": '#include "a.cu"\n', "a.cu": KERNEL}, {"a.cu": "all.h"}),
        ({"a.cu": '#include "b.cu"\n', "b.cu": '#include "c.cu"\n', "c.cu": KERNEL},
         {"b.cu": "a.cu", "c.cu": "b.cu"}),
        ({"a.cu": '#include "a.cu"\n', "b.cu": '// #include "a.cu"\n'}, {}),
        ({"m.cu": '#include "a.cu"\n', "x/a.cu": KERNEL, "y/a.cu": KERNEL}, {}),
    ],
)  # fmt: skip
def test_what_other_files_include(
    tmp_path: Path, files: dict[str, str], parts: dict[str, str]
) -> None:
    write_files(tmp_path, dict(files))
    assert included_by_others(DirectoryTree(tmp_path), 1 << 20) == parts


def test_a_program_names_what_includes_it_where_no_build_says_more(tmp_path: Path) -> None:
    write_files(tmp_path, {"main.cu": '#include "a.cu"\n', "a.cu": KERNEL, "own.cu": KERNEL})
    units = TreeUnits(compiler_decides=True)
    tree, provenance = DirectoryTree(tmp_path), Provenance(Origin.LOCAL)
    reader = ProgramReader(tree, provenance, _Nowhere(), units=units)
    read = [reader.read(name) for name in ("a.cu", "own.cu")]
    assert [each.part_of for each in read if isinstance(each, Program)] == ["main.cu", ""]
    without = ProgramReader(tree, provenance, _Nowhere()).read("a.cu")
    assert isinstance(without, Program)
    assert without.part_of == ""


@pytest.mark.parametrize("of_a_project", [True, False])
def test_a_second_half_is_no_row_of_a_project(tmp_path: Path, of_a_project: bool) -> None:
    write_files(tmp_path, {"c.cuh": '#include "c.cu"\n', "c.cu": '#include "c.cuh"\n' + KERNEL})
    units = TreeUnits(compiler_decides=of_a_project)
    reader = ProgramReader(
        DirectoryTree(tmp_path), Provenance(Origin.LOCAL), _Nowhere(), units=units
    )
    read = reader.read("c.cu")
    if of_a_project:
        assert isinstance(read, ReadReject)
        assert read.reason is Reason.FRAGMENT
        assert "c.cuh" in read.message
    else:
        assert isinstance(read, Program)


class _Nowhere:
    """A store that keeps nothing."""

    def has(self, digest: str) -> bool:
        return True

    def put(self, tree: PackedTree) -> None:
        raise AssertionError(tree.digest)


def _read(root: Path, commands: Mapping[str, UnitCommand]) -> dict[str, Program | ReadReject]:
    units = TreeUnits(commands=dict(commands))
    reader = ProgramReader(DirectoryTree(root), Provenance(Origin.LOCAL), _Nowhere(), units=units)
    return {item.path: item for item in reader.read_all()}


def test_a_part_is_a_reject_that_names_its_unit(tmp_path: Path) -> None:
    write_files(tmp_path, {"cuda.cu": '#include "CUDA/a.cu"\n', "CUDA/a.cu": KERNEL})
    items = _read(tmp_path, {"cuda.cu": UnitCommand(source="cuda.cu", compiler="nvcc")})
    part = items["CUDA/a.cu"]
    assert isinstance(part, ReadReject)
    assert part.reason is Reason.FRAGMENT
    assert "cuda.cu" in part.message
    assert isinstance(items["cuda.cu"], Program)
    # Without the project's commands nothing is known of units: every file is tried.
    assert all(isinstance(item, Program) for item in _read(tmp_path, {}).values())
