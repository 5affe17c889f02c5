"""Precompiled headers: which of them stay."""

import os
import subprocess
import time
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.toolchain.amd import precompiled
from cass_ray.toolchain.amd.precompiled import (
    CompilationSide,
    PrecompiledHeaders,
    begins_with_little,
    include_arguments,
    standard_headers,
)
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.room import make_room
from cass_ray.toolchain.unit import Unit

_HOUR = 3600.0


def _file(folder: Path, name: str, size: int, hours: float) -> Path:
    """A file of ``size`` bytes that was last used ``hours`` ago."""
    path = folder / name
    path.write_bytes(b"x" * size)
    used = time.time() - hours * _HOUR
    os.utime(path, (used, used))
    return path


@pytest.mark.parametrize(
    ("room", "left"),
    [
        (400, {"a", "b", "c", "d"}),
        (399, {"a", "b", "c"}),
        (200, {"a", "b"}),
        (199, {"a"}),
        (0, {"a"}),  # used within the hour
    ],
)
def test_the_least_recently_used_go_first(tmp_path: Path, room: int, left: set[str]) -> None:
    for name, hours in (("c", 5.0), ("a", 0.5), ("d", 9.0), ("b", 2.0)):
        _file(tmp_path, name, 100, hours)
    make_room(tmp_path, room)
    assert {path.name for path in tmp_path.iterdir()} == left


def test_folders_and_links_stay(tmp_path: Path) -> None:
    outside = _file(tmp_path, "outside", 100, 9.0)
    folder = tmp_path / "folder"
    (folder / ".part-1").mkdir(parents=True)
    (folder / "link").symlink_to(outside)
    make_room(folder, 0)
    assert outside.exists()
    assert {path.name for path in folder.iterdir()} == {".part-1", "link"}


def test_a_file_that_was_removed_is_built_again(tmp_path: Path) -> None:
    header = tmp_path / "headers" / "small.hpp"
    header.parent.mkdir()
    header.write_text("inline int one() { return 1; }\n")
    headers = PrecompiledHeaders(tmp_path / "cache", header, ("a compiler",))
    command = [str(find_amd().clang), "-x", "c++-header", "-std=c++17"]
    first = headers.get(CompilationSide.HOST, command)
    assert first is not None
    first.unlink()
    again = headers.get(CompilationSide.HOST, command)
    assert again == first
    assert first.exists()


def test_use_makes_a_file_recent(tmp_path: Path) -> None:
    header = tmp_path / "headers" / "small.hpp"
    header.parent.mkdir()
    header.write_text("inline int one() { return 1; }\n")
    headers = PrecompiledHeaders(tmp_path / "cache", header, ("a compiler",))
    command = [str(find_amd().clang), "-x", "c++-header", "-std=c++17"]
    path = headers.get(CompilationSide.HOST, command)
    assert path is not None
    os.utime(path, (0, 0))
    assert headers.get(CompilationSide.HOST, command) == path
    assert time.time() - path.stat().st_mtime < _HOUR


@pytest.mark.parametrize(
    "text", ["inline int one() { return 1; }\n", "inline int one() { return 2; }\n"]
)
def test_a_file_whose_header_has_another_text_is_built_again(tmp_path: Path, text: str) -> None:
    part = tmp_path / "elsewhere" / "part.inc"
    header = tmp_path / "headers" / "small.hpp"
    for path in (part, header):
        path.parent.mkdir()
    part.write_text("inline int one() { return 1; }\n")
    header.write_text(f'#include "{part}"\n')
    unit = tmp_path / "unit.cpp"
    unit.write_text("int two() { return one() + one(); }\n")
    headers = PrecompiledHeaders(tmp_path / "cache", header, ("a compiler",))
    command = [str(find_amd().clang), "-x", "c++", "-std=c++17"]

    def complaint() -> str:
        path = headers.get(CompilationSide.HOST, command)
        assert path is not None
        arguments = [*command, *include_arguments(path), "-S", "-o", os.devnull, str(unit)]
        return subprocess.run(arguments, check=False, capture_output=True, text=True).stderr

    assert not complaint()
    changed = text != part.read_text()
    part.write_text(text)
    os.utime(part, (0, 0))  # installed anew
    assert headers.rejected(complaint()) == changed
    assert not complaint()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "// a\n#include <hip/hip_runtime.h>\n#include <vector>\n# include <map>\n",
            ("map", "vector"),
        ),
        ("#include <cstdio>\n#define private public\n#include <vector>\n", ()),
        ('#include "settings.h"\n#include <vector>\n', ()),
        ("#ifdef A\n#include <vector>\n#endif\n", ()),
        ("int a;\n#include <vector>\n", ()),
        ("/* #include <map>\n*/ #include <vector>\n#include <vectors.h>\n", ("vector",)),
    ],
)
def test_standard_headers_before_anything_else(
    tmp_path: Path, text: str, found: tuple[str, ...]
) -> None:
    (tmp_path / "a.hip").write_text(text)
    assert standard_headers(Unit(tmp_path, PurePosixPath("a.hip"))) == found
    defining = Unit(tmp_path, PurePosixPath("a.hip"), definitions=("_GLIBCXX_DEBUG",))
    assert standard_headers(defining) == ()


@pytest.mark.parametrize(
    ("text", "little"),
    [
        ("#include <hip/hip_runtime.h>\n#include <vector>\n#include <stdio.h>\nint x;\n", True),
        ("// of HIP alone\n#include <hip/hip_cooperative_groups.h>\n#include <cmath>\n", True),
        ("#include <vector>\n#include <torch/extension.h>\n", False),
        ('#include <vector>\n#include "mine.h"\n', False),
        ("#define SIZE 3\n#include <vector>\n", False),
        ("int x;\n", False),
    ],
)
def test_no_prelude_is_made_of_what_is_precompiled(tmp_path: Path, text: str, little: bool) -> None:
    (tmp_path / "a.hip").write_text(text)
    assert begins_with_little(Unit(tmp_path, PurePosixPath("a.hip"))) is little
    folder = Unit(tmp_path, PurePosixPath("a.hip"), include_directories=(PurePosixPath("include"),))
    assert not begins_with_little(folder)


def test_what_many_units_begin_with_is_precompiled_for_them_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precompiled, "_WORTH", 2)
    header = tmp_path / "headers" / "small.hpp"
    header.parent.mkdir()
    header.write_text("inline int one() { return 1; }\n")
    headers = PrecompiledHeaders(tmp_path / "cache", header, ("a compiler",))
    command = [str(find_amd().clang), "-x", "c++", "-std=c++17"]
    plain = headers.get(CompilationSide.HOST, command)
    assert headers.get(CompilationSide.HOST, command, ("utility",)) == plain
    both = headers.get(CompilationSide.HOST, command, ("utility",))
    assert both not in (None, plain)

    body = "#include <utility>\nint f() { return std::pair<int, int>(one(), 2).second; }\n"

    def text(name: str, body: str, path: Path | None) -> tuple[int, str]:
        (tmp_path / name).write_text(body)
        assert path is not None
        arguments = [*command, *include_arguments(path), "-S", "-o", "-", name]
        done = subprocess.run(arguments, cwd=tmp_path, check=False, capture_output=True, text=True)
        return done.returncode, done.stdout

    assert text("a.cpp", body, plain) == text("a.cpp", body, both) != (1, "")
    without = body.partition("\n")[2]
    assert headers.get(CompilationSide.HOST, command) == plain
    assert text("b.cpp", without, plain)[0] == 1


SOURCES = {
    "HIP_NO_HALF": "#include <hip/hip_fp16.h>\nstruct half {};\n",
    "__HIP_NO_HALF_OPERATORS__=1": (
        "#include <hip/hip_fp16.h>\nstruct A { __half h; };\n"
        "__device__ int operator+(__half, __half) { return 1; }\n"
    ),
    "_GLIBCXX_USE_CXX11_ABI=0": (
        "#include <string>\n#include <hip/hip_runtime.h>\n"
        'static_assert(sizeof(std::string) == sizeof(void*), "the old string");\n'
    ),
    "NDEBUG": (
        "#include <hip/hip_runtime.h>\n#ifndef NDEBUG\n#error\n#endif\n"
        "__device__ void never(int i) { assert(i == 3); }\n"
    ),
    "SOMETHING_ELSE=3": '#include <hip/hip_runtime.h>\nstatic_assert(SOMETHING_ELSE == 3, "");\n',
}


@pytest.mark.amd
@pytest.mark.parametrize("definition", SOURCES)
def test_a_definition_means_the_same_to_precompiled_headers(
    tmp_path: Path, definition: str
) -> None:
    """Clang uses them although a macro that they ask for is another one, and says nothing."""
    kernel = "__global__ void k(int* p) { *p = 1; }\n"
    (tmp_path / "a.hip").write_text(SOURCES[definition] + kernel)
    unit = Unit(tmp_path, PurePosixPath("a.hip"), definitions=(definition,))
    assert "global_store" in find_amd().compile(unit).device_assembly
