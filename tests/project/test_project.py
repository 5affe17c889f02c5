"""``cass project`` on projects of ours: translated, built with ROCm's tools, tested, patched."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cass_ray.commands.project import app, default_output
from cass_ray.project.build_system import BuildSystem, find_plan, suggested_build
from cass_ray.project.patch import make_patch
from cass_ray.project.porting import knows_hip
from cass_ray.project.prefix import tell_dependencies
from cass_ray.project.tree_copies import synchronize

# Three units that share device functions and constant memory: relocatable device code.
SEPARATE = {
    "Makefile": """\
NVCC ?= nvcc
NVCCFLAGS = -O2 -arch=sm_80 -rdc=true
OBJECTS = src/main.o src/device.o src/table.o

squares: $(OBJECTS)
	$(NVCC) $(NVCCFLAGS) -o $@ $(OBJECTS)

%.o: %.cu
	$(NVCC) $(NVCCFLAGS) -c -o $@ $<

test: squares
	./squares | diff - tests/expected.txt

.PHONY: test
""",
    "src/device.cuh": """\
#pragma once
extern __constant__ int table[4];
__device__ int square(int value);
""",
    "src/device.cu": """\
#include "device.cuh"
__device__ int square(int value) { return value * value + table[value % 4]; }
""",
    "src/table.cu": """\
#include "device.cuh"
__constant__ int table[4] = {10, 20, 30, 40};
""",
    "src/main.cu": """\
#include "device.cuh"
#include <cuda_runtime.h>
#include <cstdio>
// Keeps its comments.
__global__ void fill(int* out) { out[threadIdx.x] = square(threadIdx.x); }
int main() {
  int *device, host[8];
  cudaMalloc(&device, sizeof host);
  fill<<<1, 8>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  for (int value : host) printf("%d\\n", value);
}
""",
    "tests/expected.txt": "10\n21\n34\n49\n26\n45\n66\n89\n",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def project(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.mark.amd
@pytest.mark.slow
def test_units_that_share_device_code(tmp_path: Path) -> None:
    root = write(tmp_path / "squares", SEPARATE)
    out = tmp_path / "out"
    targets = ["--arch", "gfx1100", "--arch", "gfx90a"]
    made = project(root, *targets, "-o", out)
    assert made.exit_code == 0, made.stderr
    assert "gfx1100: build passed, tests passed" in made.stdout
    assert "gfx90a: build passed, tests passed" in made.stdout

    again = project(root, *targets, "-o", out)
    assert again.exit_code == 0
    report = json.loads((out / "report.json").read_text())
    logs = [target["build"]["log"] for target in report["targets"]]
    assert all("up to date" in log for log in logs), logs
    assert report["constructs"]["converted"] > 0  # of files that were not translated anew
    assert "<h1>Port of squares to HIP</h1>" in (out / "report.html").read_text()
    assert json.loads((out / "report.sarif").read_text())["version"] == "2.1.0"

    subprocess.run(["git", "-C", str(root), "init", "-q"], check=True)
    (printed,) = re.findall(r"^apply it: (.+)$", again.stdout, re.MULTILINE)
    subprocess.run(shlex.split(printed), check=True)
    text = (root / "src/main.cu").read_text()
    assert "hipMalloc(&device, sizeof host);" in text and "// Keeps its comments." in text


CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(squares LANGUAGES CXX CUDA)
add_executable(squares src/main.cu src/device.cu src/table.cu)
set_target_properties(squares PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
enable_testing()
add_test(NAME squares COMMAND
  sh -c "$<TARGET_FILE:squares> | diff - ${CMAKE_SOURCE_DIR}/tests/expected.txt")
"""


@pytest.mark.amd
@pytest.mark.slow
def test_units_that_share_device_code_with_cmake(tmp_path: Path) -> None:
    files = {name: text for name, text in SEPARATE.items() if name != "Makefile"}
    root = write(tmp_path / "squares", {**files, "CMakeLists.txt": CMAKE})
    made = project(root, "-o", tmp_path / "out")
    assert made.exit_code == 0, made.stderr
    assert "gfx1100: build passed, tests passed" in made.stdout


@pytest.mark.amd
@pytest.mark.slow
def test_one_source_for_both_vendors(tmp_path: Path) -> None:
    root = write(tmp_path / "squares", SEPARATE)
    made = project(root, "--style", "shared", "-o", tmp_path / "out")
    assert made.exit_code == 0, made.stderr
    assert "gfx1100: build passed, tests passed" in made.stdout
    assert "CUDA: build passed (nvcc, without the switch)" in made.stdout
    patch = (tmp_path / "out/port.patch").read_text()
    assert "+#define cudaMalloc hipMalloc" in patch
    assert "-  cudaMalloc" not in patch  # the lines of CUDA are as they were
    assert "+ifeq ($(HIP),1)" in patch
    assert not re.findall(r"^-(?!--).*", patch, re.MULTILINE)  # nor is anything else taken away


@pytest.mark.amd
@pytest.mark.nvidia
@pytest.mark.slow
def test_one_cmake_build_for_both_vendors(tmp_path: Path) -> None:
    files = {name: text for name, text in SEPARATE.items() if name != "Makefile"}
    root = write(tmp_path / "squares", {**files, "CMakeLists.txt": CMAKE})
    made = project(root, "--style", "shared", "-o", tmp_path / "out")
    assert made.exit_code == 0, made.stderr
    assert "cmake -DUSE_HIP=ON -S ." in made.stderr
    assert "gfx1100: build passed, tests passed" in made.stdout
    assert "CUDA: build passed (nvcc, without the switch)" in made.stdout
    patch = (tmp_path / "out/port.patch").read_text()
    assert not re.findall(r"^-(?!--).*", patch, re.MULTILINE)
    assert "--style shared" in (tmp_path / "out/report.md").read_text()


@pytest.mark.amd
@pytest.mark.slow
def test_a_project_whose_tests_fail_is_reported(tmp_path: Path) -> None:
    files = {**SEPARATE, "tests/expected.txt": "11\n"}
    made = project(write(tmp_path / "squares", files), "-o", tmp_path / "out")
    assert made.exit_code == 1
    assert "gfx1100: build passed, tests failed" in made.stdout
    assert "< 10" in made.stderr or "> 11" in made.stderr


def test_a_project_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    made = project(write(tmp_path / "files", {"a.cu": "int x;\n"}))
    assert made.exit_code == 2
    assert "--build" in made.stderr


@pytest.mark.parametrize(
    ("files", "system", "test"),
    [
        ({"CMakeLists.txt": "", "Makefile": ""}, BuildSystem.CMAKE, ""),
        ({"CMakeLists.txt": "# enable_testing()\n"}, BuildSystem.CMAKE, ""),
        (
            {"CMakeLists.txt": "if(TESTS)\n  enable_testing ()\nendif()\n"},
            BuildSystem.CMAKE,
            "ctest",
        ),
        ({"CMakeLists.txt": "", "cmake/t.cmake": "INCLUDE(CTest)\n"}, BuildSystem.CMAKE, "ctest"),
        (
            {
                "CMakeLists.txt": "",
                "tests/CMakeLists.txt": "enable_testing()\n",
                "tests/a/CMakeLists.txt": "include(CTest)\n",
                "extern/g/CMakeLists.txt": "enable_testing()\n",
            },
            BuildSystem.CMAKE,
            "ctest --test-dir build-hip/tests --output-on-failure --no-tests=error",
        ),
        (
            {"CMakeLists.txt": "", "extern/g/CMakeLists.txt": "enable_testing()\n"},
            BuildSystem.CMAKE,
            "",
        ),
        ({"Makefile": "check: all\n\ttrue\n"}, BuildSystem.MAKE, "make check"),
        ({"Makefile": "TEST := 1\n"}, BuildSystem.MAKE, ""),
        ({"Makefile": "tests: src\ntest: all\n\ttrue\n"}, BuildSystem.MAKE, "make test"),
        ({"Makefile": "tests:\n\ttrue\n"}, BuildSystem.MAKE, "make tests"),
        ({"Makefile": "check::\n\ttrue\n"}, BuildSystem.MAKE, "make check"),
        ({"setup.py": ""}, BuildSystem.PYTHON, ""),
        ({"configure": ""}, BuildSystem.AUTOTOOLS, "make check"),
        ({"meson.build": "", "Makefile": ""}, BuildSystem.MESON, "meson test"),
        ({"a.cu": ""}, BuildSystem.NONE, ""),
    ],
)
def test_build_systems(
    tmp_path: Path, files: dict[str, str], system: BuildSystem, test: str
) -> None:
    plan = find_plan(write(tmp_path, files))
    assert plan.system is system
    assert plan.test.startswith(test) and bool(plan.test) == bool(test)
    assert find_plan(tmp_path, "ninja", "true").build == "ninja"


@pytest.mark.parametrize(
    ("files", "example"),
    [
        ({"a/b/Makefile": "", "src/Makefile": "", "c.cu": ""}, "make -C src"),
        ({"the lib/CMakeLists.txt": "", "z/Makefile": ""}, "cmake -S 'the lib' -B build-hip &&"),
        ({"k.cu": "// main(\n", "bin/one.cu": "int main() {}\n"}, "hipcc bin/one.cu -o one"),
        ({"k.cu": ""}, ""),
    ],
)
def test_a_command_is_suggested_where_none_is_known(
    tmp_path: Path, files: dict[str, str], example: str
) -> None:
    suggested = suggested_build(write(tmp_path, files))
    assert suggested.startswith(example) and bool(suggested) == bool(example)


def test_dependencies_take_the_place_of_downloads(tmp_path: Path) -> None:
    root = write(tmp_path, {"CMakeLists.txt": ""})
    plan = find_plan(root, dependencies={"Catch2": Path("/some where")})
    assert "'-DFETCHCONTENT_SOURCE_DIR_CATCH2=/some where'" in plan.build
    assert "'-DCPM_Catch2_SOURCE=/some where'" in plan.build
    made = project(root, "--dependency", "Catch2")
    assert made.exit_code == 2 and "NAME=DIR" in made.stderr


def test_a_command_that_is_given_finds_the_dependencies_too(tmp_path: Path) -> None:
    """CMake itself says what it takes: no network, no compiler."""
    text = """\
cmake_minimum_required(VERSION 3.20)
project(asks LANGUAGES NONE)
include(${CMAKE_BINARY_DIR}/cmake/CPM.cmake)
include(FetchContent)
FetchContent_Declare(Catch2 GIT_REPOSITORY https://example.org/Catch2.git)
FetchContent_MakeAvailable(Catch2)
message(STATUS "CPM takes ${CPM_Catch2_SOURCE}")
"""
    root = write(tmp_path / "asks", {"CMakeLists.txt": text})
    cpm = write(tmp_path / "CPM", {"CPM.cmake": 'message(STATUS "CPM is here")\n'})
    catch = write(tmp_path / "some where", {"CMakeLists.txt": 'message(STATUS "sources")\n'})
    dependencies = {"CPM": cpm, "Catch2": catch}
    prefix = write(tmp_path / "rocm", {"toolchain.cmake": ""})
    tell_dependencies(prefix, dependencies)
    plan = find_plan(root, "cmake -S . -B other", dependencies=dependencies)
    done = subprocess.run(
        ["bash", "-c", plan.build],
        cwd=root,
        env={**os.environ, "CMAKE_TOOLCHAIN_FILE": str(prefix / "toolchain.cmake")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for said in ("CPM is here", "sources", f"CPM takes {catch}"):
        assert f"-- {said}\n" in done.stdout


# Device code in a dependency of its own, which is CUDA as well; the test's values by hand.
DOWNLOADS = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.20)
project(tripled LANGUAGES CXX CUDA)
include(FetchContent)
FetchContent_Declare(triple GIT_REPOSITORY https://example.org/triple.git GIT_TAG v1)
FetchContent_MakeAvailable(triple)
add_executable(tripled main.cu)
target_link_libraries(tripled PRIVATE triple)
enable_testing()
add_test(NAME tripled COMMAND tripled)
""",
    "main.cu": """\
#include <triple.cuh>
#include <cuda_runtime.h>
__global__ void fill(int* out) { out[threadIdx.x] = triple(threadIdx.x); }
int main() {
  int *device, host[4];
  cudaMalloc(&device, sizeof host);
  fill<<<1, 4>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  return host[0] == 0 && host[1] == 3 && host[3] == 9 ? 0 : 1;
}
""",
}
TRIPLE = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.20)
project(triple LANGUAGES CXX)
add_library(triple INTERFACE)
target_include_directories(triple INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})
""",
    "triple.cuh": """\
#pragma once
#include <cuda_runtime.h>
__device__ inline int triple(int value) { return 3 * value; }
""",
}


def test_dependencies_that_know_hip_are_told(tmp_path: Path) -> None:
    both = {"include/both": "#if defined(__CUDACC__) || defined(__HIPCC__)\n#endif\n"}
    assert knows_hip(write(tmp_path / "both", both))
    assert not knows_hip(write(tmp_path / "triple", TRIPLE))
    said = {"a.h": "// __HIPCC__\n", "notes.md": "#ifdef __HIPCC__\n"}
    assert not knows_hip(write(tmp_path / "said", said))


@pytest.mark.amd
@pytest.mark.slow
def test_a_project_that_downloads_is_given_the_sources(tmp_path: Path) -> None:
    root = write(tmp_path / "tripled", DOWNLOADS)
    triple = write(tmp_path / "triple", TRIPLE)
    made = project(root, "--dependency", f"triple={triple}", "-o", tmp_path / "out")
    assert made.exit_code == 0, made.stderr
    assert "gfx1100: build passed, tests passed" in made.stdout


def test_cpm_is_where_projects_look_for_it(tmp_path: Path) -> None:
    """CMake itself finds it: two ways of asking for it, with no network and no compiler."""
    ask = """\
set(CPM_DOWNLOAD_VERSION {version})
set(CPM_DOWNLOAD_LOCATION "${{CMAKE_BINARY_DIR}}/cmake/{name}")
if(NOT (EXISTS ${{CPM_DOWNLOAD_LOCATION}}))
  message(FATAL_ERROR "a download")
endif()
include(${{CPM_DOWNLOAD_LOCATION}})
"""
    files = {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(asks LANGUAGES NONE)\n"
        "include(cmake/new.cmake)\ninclude(cmake/old.cmake)\n",
        "cmake/new.cmake": ask.format(version="0.40.2", name="CPM_${CPM_DOWNLOAD_VERSION}.cmake"),
        "cmake/old.cmake": ask.format(version="0.27.3", name="CPM.cmake"),
    }
    root = write(tmp_path / "asks", files)
    cpm = write(tmp_path / "c p m", {"cmake/CPM.cmake": 'message(STATUS "CPM is here")\n'})
    plan = find_plan(root, dependencies={"CPM": cpm})
    shell = ["bash", "-c", plan.build]
    done = subprocess.run(shell, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("-- CPM is here") == 2
    with pytest.raises(ValueError, match=r"CPM\.cmake is a file"):
        find_plan(root, dependencies={"CPM": tmp_path})


def test_a_patch_is_exact(tmp_path: Path) -> None:
    """Line ends and ignored files are what they are, whatever the project's attributes say."""
    files = {
        ".gitattributes": "* text eol=lf\n*.cu filter=other\n",
        ".gitignore": "kept.cu\n",
        "kept.cu": "int a;\r\n",
        "plain.txt": "same\n",
    }
    before = write(tmp_path / "before", files)
    after = write(tmp_path / "after", {**files, "plain.txt": "same\n"})
    (before / "kept.cu").write_bytes(b"int a;\r\n")
    (after / "kept.cu").write_bytes(b"int b;\r\n")
    (tmp_path / "port.patch").write_bytes(make_patch(before, after).encode())
    subprocess.run(["git", "apply", "../port.patch"], cwd=before, check=True)
    assert (before / "kept.cu").read_bytes() == b"int b;\r\n"


def test_files_of_submodules_are_changed_as_others_are(tmp_path: Path) -> None:
    def git(folder: Path, *arguments: str) -> None:
        settings = ("protocol.file.allow=always", "user.name=a", "user.email=a@b")
        options = (word for setting in settings for word in ("-c", setting))
        subprocess.run(["git", *options, *arguments], cwd=folder, check=True)

    for name in ("library", "project"):
        folder = write(tmp_path / name, {f"{name}.cu": "int a;\n", "kept.cu": "int k;\n"})
        git(folder, "init", "--quiet")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", name)
    project = tmp_path / "project"
    git(project, "submodule", "--quiet", "add", str(tmp_path / "library"), "deps/library")
    git(project, "commit", "--quiet", "-m", "submodule")
    port = tmp_path / "port"
    synchronize(project, port)
    changed = ("project.cu", "deps/library/library.cu")
    for path in changed:
        (port / path).write_text("int b;\n")
    patch = make_patch(project, port)
    assert patch.count("diff --git") == 2
    (tmp_path / "port.patch").write_text(patch)
    git(project, "apply", "../port.patch")
    assert [(project / path).read_text() for path in changed] == ["int b;\n"] * 2


def test_files_that_stay_the_same_keep_their_time(tmp_path: Path) -> None:
    source = write(tmp_path / "source", {"a.cu": "1", "b.cu": "2"})
    target = tmp_path / "target"
    synchronize(source, target)
    (target / "a.o").write_text("built")
    times = {path.name: path.stat().st_mtime_ns for path in target.iterdir()}
    (source / "b.cu").write_text("3")
    assert synchronize(source, target) == ["b.cu"]
    assert (target / "b.cu").read_text() == "3"
    assert (target / "a.cu").stat().st_mtime_ns == times["a.cu"]
    assert (target / "a.o").read_text() == "built"


def test_links_inside_a_project_are_kept(tmp_path: Path) -> None:
    source = write(tmp_path / "source", {"src/a.cpp": "1"})
    (source / "src/a.cu").symlink_to("a.cpp")
    (source / "out").symlink_to("../elsewhere")
    (source / "absolute").symlink_to(source / "src")
    synchronize(source, tmp_path / "target")
    assert (tmp_path / "target/src/a.cu").readlink() == Path("a.cpp")
    assert sorted(path.name for path in (tmp_path / "target").iterdir()) == ["src"]


@pytest.mark.parametrize("replaced", ["a.cu", "src", "CMakeLists.txt"])
def test_links_that_a_build_left_are_not_followed(replaced: str, tmp_path: Path) -> None:
    """A build may change its tree; what the next run writes there stays in there."""
    source, target, outside = tmp_path / "source", tmp_path / "target", tmp_path / "outside"
    for name in ("a.cu", "src/b.cu", "CMakeLists.txt"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("new")
    outside.mkdir()
    (outside / "b.cu").write_text("of the host")
    (outside / "file").write_text("of the host")
    target.mkdir()
    is_folder = replaced == "src"
    (target / replaced).symlink_to(outside if is_folder else outside / "file")
    synchronize(source, target)
    assert sorted(path.name for path in outside.iterdir()) == ["b.cu", "file"]
    assert {path.read_text() for path in outside.iterdir()} == {"of the host"}
    assert (target / "src" / "b.cu").read_text() == "new"
    assert not any(path.is_symlink() for path in target.rglob("*"))


def test_pipes_and_folders_in_the_place_of_files_make_way(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (target / "folder.cu" / "deep").mkdir(parents=True)
    os.mkfifo(target / "pipe.cu")
    for name in ("folder.cu", "pipe.cu"):
        (source / name).write_text("new")
    synchronize(source, target)
    assert {path.read_text() for path in target.iterdir()} == {"new"}


def test_a_removed_file_is_not_in_the_next_patch(tmp_path: Path) -> None:
    """Neither a source nor a link or a build file; what builds made in the tree stays."""
    root, tree = tmp_path / "root", tmp_path / "tree"
    write(root, {"a.cu": "a", "old/b.cu": "b", "old/Makefile": "m"})
    (root / "link").symlink_to("a.cu")
    synchronize(root, tree)
    (tree / "old" / "b.o").write_text("object")
    (root / "old/b.cu").unlink()
    (root / "old/Makefile").unlink()
    (root / "link").unlink()
    write(root, {"c.cu": "c"})
    assert sorted(synchronize(root, tree)) == ["c.cu", "link", "old/Makefile", "old/b.cu"]
    left = sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file())
    assert left == ["a.cu", "c.cu", "old/b.o"]


@pytest.mark.parametrize(
    ("here", "source", "output"),
    [
        (".", "squares", "squares-hip"),
        ("squares", ".", "squares-hip"),
        ("squares/src", "..", "squares-hip"),
        ("other", "../squares", "other/squares-hip"),
        ("squares", "https://example.org/a/cubes.git", "squares/cubes-hip"),
    ],
)
def test_patch_and_report_do_not_go_into_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str, source: str, output: str
) -> None:
    for name in ("squares/src", "other"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / here)
    assert default_output(source).resolve() == tmp_path / output


@pytest.mark.parametrize("name", ["file/out", "file", "/proc/out", "/dev/null/out"])
def test_an_output_that_cannot_be_written_is_said_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    made = CliRunner().invoke(app, [str(write(tmp_path / "p", SEPARATE)), "-o", name])
    assert made.exit_code == 2
    assert f"{name} cannot be written" in made.stderr and "give -o" in made.stderr
    assert "translating" not in made.stderr
    assert (tmp_path / "file").read_text() == "mine"
