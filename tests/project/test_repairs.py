"""Repairs of a port from what its build says, with a compiler that is played."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.project.repairs import FileRepair, Repairs
from cass_ray.project.steps import Step, StepOutcome

SOURCE = "#include <hip/hip_runtime.h>\nint main() { return printf(1); }\n"
LOG = "../src/a.hip:2:23: error: use of undeclared identifier 'printf'\n"
WANTED = "#include <cstdio>\n" + SOURCE


class Project:
    """A port and the tree that is built of it."""

    def __init__(self, folder: Path) -> None:
        self.port, self.tree = folder / "port", folder / "tree"
        self.state = folder / "repairs.json"
        for root in (self.port, self.tree):
            (root / "src").mkdir(parents=True)
            (root / "src/a.hip").write_text(SOURCE)
        (self.tree / "build-hip").mkdir()
        self.builds = 0

    def build(self, *logs: str, for_both: bool = False) -> tuple[Repairs, Step]:
        """Builds fail with ``logs`` one after another, then pass."""

        def step() -> Step:
            self.builds += 1
            failed = self.builds <= len(logs)
            outcome = StepOutcome.FAILED if failed else StepOutcome.PASSED
            return Step("make", outcome, log=logs[self.builds - 1] if failed else "")

        repairs = Repairs(self.port, self.state, for_both=for_both)
        repairs.start()
        return repairs, repairs.build(self.tree, step, 3)

    @property
    def texts(self) -> list[str]:
        return [(root / "src/a.hip").read_text() for root in (self.port, self.tree)]


def test_a_change_that_helps_is_kept_and_remembered(tmp_path: Path) -> None:
    project = Project(tmp_path)
    repairs, step = project.build(LOG)
    assert step.passed and project.builds == 2
    assert project.texts == [WANTED, WANTED]
    assert repairs.made == [FileRepair("src/a.hip", ("add #include <cstdio> for printf",))]

    (project.port / "src/a.hip").write_text(SOURCE)  # translated again
    again = Repairs(project.port, project.state)
    again.start()
    assert project.texts[0] == WANTED
    assert again.made == repairs.made


def test_what_nvidias_compiler_reads_stays_where_the_port_is_for_both(tmp_path: Path) -> None:
    project = Project(tmp_path)
    _, step = project.build(LOG, for_both=True)
    assert step.passed
    for root in (project.port, project.tree):
        read = [
            preprocessed(root / "src/a.hip", *options).splitlines()
            for options in ((), ("-D__HIP__=1",))
        ]
        assert read[0] == [line for line in SOURCE.splitlines() if "#" not in line]
        assert len(read[1]) > len(read[0])  # <cstdio>
        assert read[1][-1] == read[0][-1]


def preprocessed(file: Path, *options: str) -> str:
    """The code that a compiler reads; the header of HIP is an empty one."""
    (file.parent / "hip").mkdir(exist_ok=True)
    (file.parent / "hip/hip_runtime.h").touch()
    command = ["g++", "-E", "-P", "-x", "c++", f"-I{file.parent}", *options, str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_what_was_found_for_another_text_is_not_used(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.build(LOG)
    (project.port / "src/a.hip").write_text(SOURCE.replace("1", "2"))
    again = Repairs(project.port, project.state)
    again.start()
    assert again.made == []


def test_a_change_that_brings_new_errors_is_taken_back(tmp_path: Path) -> None:
    project = Project(tmp_path)
    repairs, step = project.build(LOG, "src/a.hip:1:10: error: 'cstdio' file not found\n")
    assert not step.passed and project.builds == 2
    assert project.texts == [SOURCE, SOURCE]
    assert repairs.made == [] and not project.state.exists()


def test_progress_leads_to_the_next_round(tmp_path: Path) -> None:
    project = Project(tmp_path)
    second = "src/a.hip:3:20: error: use of undeclared identifier 'memcpy'\n"
    repairs, step = project.build(LOG + second, second.replace("src/", "/nowhere/"))
    assert not step.passed and project.builds == 2  # the second log is about no file of the tree
    assert [item.path for item in repairs.made] == ["src/a.hip"]


def test_an_error_that_was_hidden_does_not_take_a_change_back(tmp_path: Path) -> None:
    project = Project(tmp_path)
    hidden = "src/a.hip:3:1: error: expected ';'\n"
    repairs, step = project.build(LOG, hidden)
    assert not step.passed
    assert project.texts == [WANTED, WANTED]
    assert [item.path for item in repairs.made] == ["src/a.hip"]


def test_an_error_of_a_header_in_many_units_is_mended_once(tmp_path: Path) -> None:
    """Clang reports it for each unit and each instantiation."""
    project = Project(tmp_path)
    line = "struct D : B<T> { int f() { return g(); } };"
    for root in (project.port, project.tree):
        (root / "src/a.hip").write_text(line)
    said = f"src/a.hip:1:{line.index('g()') + 1}: error: explicit qualification required to use "
    said += "member 'g' from dependent base class\n"
    _, step = project.build(said * 3)
    assert step.passed
    assert project.texts == [line.replace("g()", "this->g()")] * 2


def test_files_outside_of_the_tree_are_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside.hip"
    outside.write_text(SOURCE)
    project = Project(tmp_path)
    (project.tree / "src/a.hip").unlink()
    (project.tree / "src/a.hip").symlink_to(outside)
    _, step = project.build(LOG)
    assert not step.passed and project.builds == 1
    assert outside.read_text() == SOURCE


def test_files_are_found_from_the_folders_that_make_enters(tmp_path: Path) -> None:
    project = Project(tmp_path)
    entered = f"make: Entering directory '{project.tree / 'src'}'\n"
    said = LOG.replace("../src/", "./")
    repairs, step = project.build(f"make: Entering directory '/etc'\n{entered}{said}")
    assert step.passed
    assert project.texts == [WANTED, WANTED]
    assert [item.path for item in repairs.made] == ["src/a.hip"]


@pytest.mark.parametrize("header", ["hip/hip_runtime.h", "cuda_runtime.h", "cublas_v2.h"])
def test_hosts_files_that_miss_hips_header_get_its_target(tmp_path: Path, header: str) -> None:
    project = Project(tmp_path)
    lists = [root / "CMakeLists.txt" for root in (project.port, project.tree)]
    for file in lists:
        file.write_text(
            "project(p)\nif(USE_HIP)\n  enable_language(HIP)\nelse()\n"
            "  enable_language(CUDA)\nendif()\nadd_executable(t t.cc)\n"
        )
    log = f"/t.cc:1:10: fatal error: {header}: No such file or directory\n"
    repairs, step = project.build(log, for_both=True)
    assert step.passed and repairs.made[0].path == "CMakeLists.txt"
    for file in lists:
        assert file.read_text() == (
            "project(p)\nif(USE_HIP)\n  enable_language(HIP)\n  find_package(hip REQUIRED)\n"
            "  link_libraries(hip::host)\nelse()\n  enable_language(CUDA)\nendif()\n"
            "add_executable(t t.cc)\n"
        )


@pytest.mark.parametrize("included", [False, True])
@pytest.mark.parametrize("named", ["src/CMakeFiles/one.dir", "src/sub/CMakeFiles/one.dir/__"])
def test_files_of_the_host_with_headers_of_devices_become_hips(
    tmp_path: Path, included: bool, named: str
) -> None:
    project = Project(tmp_path)
    lists = [root / "CMakeLists.txt" for root in (project.port, project.tree)]
    for file in lists:
        file.write_text("project(p LANGUAGES CXX HIP)\nadd_subdirectory(src)\n")
        (file.parent / "src/a.cpp").write_text("")
    unit, header = project.tree / "src/a.cpp", "/rocm/thrust/config.h"
    log = (
        f"In file included from /rocm/thrust/pair.h:2,\n                 from {unit}:1:\n{header}"
        if included
        else str(unit)
    )
    log += (
        ":25:10: fatal error: cuda/__cccl_config: No such file or directory\n"
        f"gmake: *** [a/build.make:9: {named}/a.cpp.o] Error 1\n"
        "gmake: *** [a/build.make:9: src/CMakeFiles/two.dir/b/a.cpp.o] Error 1\n"
    )
    repairs, step = project.build(log)
    assert step.passed
    assert repairs.made == [FileRepair("CMakeLists.txt", ("compile src/a.cpp as HIP",))]
    for file in lists:
        assert file.read_text().endswith(
            "add_subdirectory(src)\nif(CMAKE_HIP_COMPILER)\n  set_source_files_properties("
            "${CMAKE_CURRENT_SOURCE_DIR}/src/a.cpp TARGET_DIRECTORY one PROPERTIES LANGUAGE HIP)\n"
            "endif()\n"
        )


def test_a_header_that_stays_away_is_looked_for_once(tmp_path: Path) -> None:
    project = Project(tmp_path)
    text = "project(p LANGUAGES CXX HIP)\n"
    (project.port / "CMakeLists.txt").write_text(text)
    (project.tree / "CMakeLists.txt").write_text(text)
    log = "/t.cc:1:10: fatal error: hipblas/hipblas.h: No such file or directory\n"
    repairs, step = project.build(log, log, log)
    assert not step.passed and not repairs.made and project.builds == 2
    assert (project.port / "CMakeLists.txt").read_text() == text


@pytest.mark.parametrize("for_both", [False, True])
def test_a_hosts_compiler_reads_no_sides(tmp_path: Path, for_both: bool) -> None:
    """A header for all, whose declaration has a macro for the sides."""
    project = Project(tmp_path)
    text = "struct A;\ntemplate <class T>\nT *V<T>::raw()\n{\n    return m;\n}\n"
    for root in (project.port, project.tree):
        (root / "src/a.hip").write_text(text)
    log = (
        "../src/a.hip:3:10: error: __host__ function 'raw' cannot overload __host__ __device__"
        " function 'raw'\nv.h:9:1: note: previous declaration is here\n"
    )
    _, step = project.build(log, for_both=for_both)
    assert step.passed
    read = {
        options: preprocessed(project.port / "src/a.hip", *options).split("\n")
        for options in ((), ("-D__HIP_PLATFORM_AMD__",), ("-D__HIP__=1",))
    }
    assert read[()] == read[("-D__HIP_PLATFORM_AMD__",)]
    assert "__host__" not in "".join(read[()]) and "T *V<T>::raw()" in read[()]
    assert "__host__ __device__ T *V<T>::raw()" in read[("-D__HIP__=1",)]
