"""Why a compiler failed, by its words: those of the program it shows say nothing of it."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.sandbox.process import Completed, ProcessOutcome
from cass_ray.toolchain.unit import Unit, classify, unopened_files

UNIT = Unit(Path("/x"), PurePosixPath("a.cu"))


def reason(text: str, outcome: ProcessOutcome = ProcessOutcome.EXIT) -> Reason:
    completed = Completed(outcome, 1, 0, b"", text.encode(), 0.0, 0.0, 0)
    return classify(completed, UNIT).reason


@pytest.mark.parametrize(
    "text",
    [
        # EDG, clang and g++ about static_assert(sizeof(int) == 3, "…"), as they wrote it.
        'a.cu(2): error: static assertion failed with "Segmentation fault"\n'
        '  static_assert(sizeof(int) == 3, "Segmentation fault");\n  ^\n',
        "a.cu:2:15: error: static assertion failed due to requirement 'sizeof(int) == 3': out of"
        ' memory\n    2 | static_assert(sizeof(int) == 3, "out of memory");\n      |     ^~~~\n',
        "a.cu:2:27: error: static assertion failed: internal error\n",
        'a.cu:3:2: error: #error "out of memory"\n    3 | #error "out of memory"\n',
        'a.cu(3): fatal error: #error directive: "No space left on device"\n',
        "a.cu:9:3: error: use of undeclared identifier 'x'\n"
        '    9 |   if (x) throw "std::bad_alloc: Stack dump:";\n      |       ^\n',
        'a.cu(7): warning #177-D: variable "b" was declared but never referenced: bad_alloc\n'
        'a.cu(8): error: expected a ";"\n',
    ],
)
def test_words_of_the_program(text: str) -> None:
    assert reason(text) is Reason.COMPILE_ERROR


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a.cu(5): internal error: assertion failed at: "il.c", line 1', Reason.COMPILER_CRASHED),
        ("a.cc:5:1: internal compiler error: in f, at x.c:3\n", Reason.COMPILER_CRASHED),
        (
            "clang++: ../Sema.cpp:12: f(): Assertion `x' failed.\nPLEASE submit a bug report\n",
            Reason.COMPILER_CRASHED,
        ),
        ("nvcc error   : 'cicc' died due to signal 11 (Invalid memory)", Reason.COMPILER_CRASHED),
        ("nvcc error   : 'cicc' died due to signal 9 (Kill signal)", Reason.COMPILER_KILLED),
        ("nvcc error   : 'ptxas' died due to signal 15", Reason.COMPILER_KILLED),
        (
            "g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.",
            Reason.COMPILER_KILLED,
        ),
        (
            "clang++: error: unable to execute command: Killed\n"
            "clang++: error: clang frontend command failed due to signal (use -v)",
            Reason.COMPILER_KILLED,
        ),
        (
            'a.cu:3:2: error: "died due to signal 9"\na.cc:5:1: internal compiler error: in f\n',
            Reason.COMPILER_CRASHED,
        ),
        ("cc1plus: out of memory allocating 65536 bytes", Reason.MEMORY_LIMIT),
        (
            "/tmp/a.s:12: Fatal error: can't write 12 bytes: No space left on device",
            Reason.OUTPUT_LIMIT,
        ),
        ("terminate called after throwing an instance of 'std::bad_alloc'", Reason.MEMORY_LIMIT),
    ],
)
def test_words_of_the_compiler(text: str, expected: Reason) -> None:
    assert reason(text) is expected


def test_all_headers_that_are_missing() -> None:
    log = (
        "a.c:1:10: fatal error: omp.h: No such file or directory\n"
        "b.hip:2:10: fatal error: 'mpi.h' file not found\n"
        "c.c:1:10: fatal error: omp.h: No such file or directory\n"
    )
    assert sorted(unopened_files(log)) == ["mpi.h", "omp.h"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, Reason.COMPILER_KILLED),
        (2, Reason.COMPILER_KILLED),
        (6, Reason.COMPILER_CRASHED),
        (9, Reason.COMPILER_KILLED),
        (11, Reason.COMPILER_CRASHED),
        (15, Reason.COMPILER_KILLED),
    ],
)
def test_a_signal_from_outside_is_no_crash(number: int, expected: Reason) -> None:
    completed = Completed(ProcessOutcome.SIGNAL, -number, number, b"", b"", 0.0, 0.0, 0)
    failure = classify(completed, UNIT)
    assert failure.reason is expected
    assert failure.diagnostic == f"ended by signal {number}, without a message"


@pytest.mark.parametrize("name", ["math.h", "string.h", "time.h", "limits.h", "assert.h"])
def test_a_header_of_the_c_librarys_name_is_not_the_trees(name: str, tmp_path: Path) -> None:
    """But for a file beside it: gcc's manual, "Directory Options", of ``-idirafter``."""
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / name).write_text("#define OF_THE_TREE 1\n")
    (tmp_path / "common" / "other.h").write_text(f'#include "{name}"\n')
    text = f"#include <{name}>\n#ifdef OF_THE_TREE\n#error this is not the library\n#endif\n"
    text += "#include <other.h>\nint x = OF_THE_TREE;\n"
    (tmp_path / "a.cc").write_text(text)
    unit = Unit(tmp_path, PurePosixPath("a.cc"), include_directories=("common",))
    command = ["g++", *unit.preprocessor_arguments(), "-fsyntax-only", "a.cc"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert unit.nvcc_arguments() == ["-Xcompiler", "-idirafter", "-Xcompiler", "common"]
