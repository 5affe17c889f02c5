"""The original's machine code, lifted, as the reference for a project's port."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cass_ray.commands.project import app
from cass_ray.execute.comparison.compare import F32
from cass_ray.project.reference.comparing import OriginalRuns, RunVerdict, compare_runs
from cass_ray.project.reference.recording import (
    BuiltFile,
    ProgramRun,
    built_files,
    gpu_programs,
    launcher,
    put_back,
    read_runs,
    watched,
)
from cass_ray.project.reference.toolkit import write_toolkit
from cass_ray.project.steps import RECORD_VARIABLE
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain


def original(
    *passes: tuple[ProgramRun, ...], lacking: dict[str, str] | None = None
) -> OriginalRuns:
    return OriginalRuns(kind="lifted sm_90", passes=passes, lacking=lacking or {})


def run(program: str, stdout: str, status: str = "exit 0", **more: object) -> ProgramRun:
    return ProgramRun.model_validate(
        {"program": program, "stdout": stdout, "status": status, **more}
    )


def test_runs_are_compared_one_by_one() -> None:
    first = (
        run("same", "1\n"),
        run("floats", "0.5\n"),
        run("wrong", "7\n"),
        run("varies", "seed 1\nsum 3\n"),
        run("fails", "", "exit 1"),
        run("refused", "1\n", refused="cudaMallocArray is not supported"),
        run("left out", "1\n"),
        run("crashes", "1\n"),
        run("ended", "1\n"),
    )
    second = tuple(
        each.model_copy(update={"stdout": "seed 2\nsum 3\n"}) if each.program == "varies" else each
        for each in first
    )
    port = (
        run("same", "1\n"),
        run("floats", "0.50000001\n"),
        run("wrong", "8\n"),
        run("varies", "seed 9\nsum 3\n"),
        run("fails", "", "exit 1"),
        run("refused", "1\n"),
        run("new", "1\n"),
        run("crashes", "1\n", "signal 11"),
        run("ended", "", ""),
    )
    made = compare_runs(original(first, second), port, 5, F32)
    verdicts = {each.command: each.verdict.value for each in made.runs}
    assert verdicts == {
        "same": "exact",
        "floats": "numeric",
        "wrong": "differs",
        "varies": "numeric",
        "fails": "undecided",
        "refused": "undecided",
        "new": "undecided",
        "crashes": "differs",
        "ended": "undecided",
        "left out": "undecided",
    }
    assert (made.agreeing, made.differing, made.undecided) == (3, 2, 5)
    assert made.summary == (
        "3 of 10 runs print what the original prints, 2 differ, 5 undecided"
        " (reference: lifted sm_90): differs"
    )
    [crash] = [each for each in made.runs if each.command == "crashes"]
    assert crash.why == "signal 11 instead of exit 0"


def test_the_same_command_twice_is_two_runs() -> None:
    runs = (run("count", "1\n"), run("count", "2\n"))
    made = compare_runs(original(runs, runs), (run("count", "1\n"), run("count", "1\n")), 2, F32)
    assert [each.verdict for each in made.runs] == [RunVerdict.EXACT, RunVerdict.DIFFERS]


def test_a_port_that_launches_nothing_does_not_agree() -> None:
    runs = (run("sum", "3\n"),)
    made = compare_runs(original(runs, runs), runs, 0, F32)
    assert made.differing == 1
    assert made.runs[0].why == "the port launches no kernel"


def test_without_a_decided_run_there_is_no_reference() -> None:
    lacking = {"sum": "it needs libcublas.so.13, which lifted programs do not have"}
    runs = (run("sum", "", "exit 127"),)
    made = compare_runs(original(runs, runs, lacking=lacking), (run("sum", "3\n"),), 1, F32)
    assert made.summary == (
        "reference: none (it needs libcublas.so.13, which lifted programs do not have): cannot tell"
    )


def test_programs_that_use_the_gpu_by_a_library_of_theirs() -> None:
    def file(path: str, *needed: str, program: bool = True) -> BuiltFile:
        return BuiltFile(path=path, is_program=program, name=Path(path).name, needed=needed)

    files = [
        file("bin/direct", "libcudart.so.13", "libc.so.6"),
        file("bin/indirect", "libouter.so"),
        file("bin/host", "libm.so.6"),
        file("lib/libouter.so", "libinner.so", program=False),
        file("lib/libinner.so", "libamdhip64.so.6", program=False),
    ]
    assert gpu_programs(files) == ["bin/direct", "bin/indirect"]


PROGRAM = """\
#include <signal.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
  char line[64] = "";
  if (fgets(line, sizeof line, stdin) == NULL) line[0] = 0;
  printf("%s of %s, read %s", argv[1], argv[0], line);
  fflush(stdout);
  if (strcmp(argv[1], "crash") == 0) raise(SIGSEGV);
  return strcmp(argv[1], "fail") == 0 ? 3 : 0;
}
"""


@pytest.mark.amd
def test_programs_run_behind_the_launcher_as_they_are(tmp_path: Path) -> None:
    tree = (tmp_path / "tree").resolve()
    record = tmp_path / "record"
    (tree / "bin").mkdir(parents=True)
    record.mkdir()
    program = tree / "bin" / "work"
    subprocess.run(["cc", "-x", "c", "-", "-o", str(program)], input=PROGRAM, text=True, check=True)
    [found] = built_files(tree)
    assert found.path == "bin/work" and "libc.so.6" in found.needed
    before, state = program.read_bytes(), program.stat()
    script = f"""
cd bin
echo one | ./work pass "two words" > out; echo $? >> out
echo two | {program} fail >> out; echo $? >> out
(echo three | ./work crash) >> out 2> /dev/null; echo $? >> out
"""
    with watched(tree, ["bin/work"], launcher()):
        assert program.read_bytes() != before
        assert program.stat().st_mtime_ns == state.st_mtime_ns
        environment = {"PATH": os.environ["PATH"], RECORD_VARIABLE: str(record)}
        subprocess.run(["bash", "-c", script], cwd=tree, env=environment, check=False)
    assert (tree / "bin/out").read_text() == (
        f"pass of ./work, read one\n0\nfail of {program}, read two\n3\n"
        "crash of ./work, read three\n139\n"
    )
    assert program.read_bytes() == before
    assert [path.name for path in (tree / "bin").iterdir() if path.name.startswith(".")] == []
    runs = read_runs(record, tree)
    assert [(each.program, each.arguments, each.folder) for each in runs] == [
        ("bin/work", ("pass", "two words"), "bin"),
        ("bin/work", ("fail",), "bin"),
        ("bin/work", ("crash",), "bin"),
    ]
    assert [each.status for each in runs] == ["exit 0", "exit 3", "signal 11"]
    # The tree's own path is not part of what is compared.
    assert runs[1].stdout == "fail of ./bin/work, read two\n"


@pytest.mark.amd
def test_what_the_tests_build_anew_stays_and_what_a_kill_left_is_undone(tmp_path: Path) -> None:
    tree = tmp_path.resolve()
    for name in ("old", "new"):
        (tree / name).write_bytes(b"\x7fELF" + name.encode())
    with watched(tree, ["old", "new"], launcher()):
        (tree / "new").unlink()
        (tree / "new").write_bytes(b"built again")
    assert (tree / "old").read_bytes() == b"\x7fELFold"
    assert (tree / "new").read_bytes() == b"built again"
    (tree / "old").rename(tree / ".old.cass")
    (tree / "old").write_bytes(launcher().read_bytes())
    put_back(tree, launcher())
    assert sorted(path.name for path in tree.iterdir()) == ["new", "old"]
    assert (tree / "old").read_bytes() == b"\x7fELFold"


def test_a_record_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    record, tree = tmp_path / "record", tmp_path / "tree"
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (record / "1").mkdir(parents=True)
    tree.mkdir()
    (record / "1/program").write_text(f"{tree}/run")
    (record / "1/stdout").symlink_to(secret)
    (record / "2").symlink_to(tmp_path)
    [found] = read_runs(record, tree)
    assert found.stdout == "" and not found.whole


@pytest.mark.parametrize(
    ("given", "passed_on"),
    [
        ("-gencode arch=compute_50,code=sm_50 -gencode=arch=compute_60,code=sm_60 -O2 a.cu", "-O2"),
        ("-arch sm_70 -cudart static -c a.cu", "-c"),
        ("--gpu-architecture=sm_80 --gpu-code sm_80 -lcudart a.cu", "-lcudart"),
        ("--generate-code=arch=compute_52,code=[compute_52,sm_52] -dc a.cu", "-dc"),
    ],
)
def test_the_compiler_takes_one_architecture(tmp_path: Path, given: str, passed_on: str) -> None:
    home = tmp_path / "cuda"
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    (home / "lib/libcudart.so").touch()
    nvcc = home / "bin/nvcc"
    nvcc.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    nvcc.chmod(0o755)
    toolchain = NvidiaToolchain(nvcc, nvcc, nvcc, (), (home / "lib",), "13.0", clang=None)
    toolkit = write_toolkit(tmp_path / "toolkit", toolchain, "sm_90")
    made = [str(toolkit.folder / "bin/nvcc"), *given.split(), "-DTEXT=two words"]
    printed = subprocess.run(made, capture_output=True, text=True, check=True).stdout.splitlines()
    assert sorted(printed[:-3]) == sorted([passed_on, "a.cu", "-DTEXT=two words"])
    assert printed[-3:] == ["-arch=sm_90", "-cudart", "shared"]


def test_cmake_is_told_of_the_toolkit_and_not_of_the_installation(tmp_path: Path) -> None:
    home = tmp_path / "cuda"
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    (home / "lib/libcudart.so").touch()
    nvcc = home / "bin/nvcc"
    nvcc.write_text(f"#!/bin/sh\necho out\necho '#$ TOP={home}/bin/..' >&2\nexit 3\n")
    nvcc.chmod(0o755)
    toolchain = NvidiaToolchain(nvcc, nvcc, nvcc, (), (home / "lib",), "13.0", clang=None)
    toolkit = write_toolkit(tmp_path / "toolkit", toolchain, "sm_90")
    command = [str(toolkit.folder / "bin/nvcc"), "-v", "__cmake_determine_cuda"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stdout == "out\n"
    assert done.stderr == f"#$ TOP={toolkit.folder}/bin/..\n"


MAKEFILE = """\
sum: sum.cu
	nvcc -gencode arch=compute_50,code=sm_50 -o sum sum.cu @more@
test: sum
	./sum 4 > out.txt
	./sum 6 | grep -q .
"""
SUM = """\
#include <cstdio>
#include <cstdlib>
@include@
__global__ void sum(int* out, int count) {
  for (int i = 1; i <= count; ++i) *out += i;
}
int main(int argc, char** argv) {
  int *device, host = 0, count = argc > 1 ? atoi(argv[1]) : 3;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, 1>>>(device, count);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
#ifdef __HIP__
  host += @wrong@;
#endif
  printf("sum %d\\n", host);
}
"""


def project(
    folder: Path, *arguments: str, wrong: int = 0, more: str = "", include: str = ""
) -> tuple[Result, list[dict[str, str]], str]:
    root = folder / "sums"
    root.mkdir()
    (root / "Makefile").write_text(MAKEFILE.replace("@more@", more))
    text = SUM.replace("@wrong@", str(wrong)).replace("@include@", include)
    (root / "sum.cu").write_text(text)
    made = CliRunner().invoke(app, [str(root), "-o", str(folder / "out"), *arguments])
    comparison = json.loads((folder / "out/report.json").read_text())["targets"][0]["comparison"]
    runs = [] if comparison is None else comparison["runs"]
    return made, runs, (folder / "out/report.html").read_text()


@pytest.mark.amd
@pytest.mark.nvidia
@pytest.mark.slow
def test_a_port_that_agrees_with_the_original(tmp_path: Path) -> None:
    made, runs, page = project(tmp_path)
    assert made.exit_code == 0, made.stderr
    said = "2 of 2 runs print what the original prints (reference: lifted sm_90): agrees"
    assert f"gfx1100: {said}" in made.stdout
    assert said in page
    assert [(each["command"], each["verdict"]) for each in runs] == [
        ("sum 4", "exact"),
        ("sum 6", "exact"),
    ]


CARD = """\
#include <cuda_runtime.h>
struct Card {
  Card() {
    cudaDeviceProp card;
    cudaGetDeviceProperties(&card, 0);
    printf("%s, %d SMs\\n", card.name, card.multiProcessorCount);
  }
} card;
"""


@pytest.mark.amd
@pytest.mark.nvidia
@pytest.mark.slow
@pytest.mark.parametrize("first", ["gfx1100", "gfx942"])
def test_a_port_that_prints_the_card_that_it_runs_on(tmp_path: Path, first: str) -> None:
    second = {"gfx1100": "gfx942", "gfx942": "gfx1100"}[first]
    made, _, _ = project(tmp_path, "--arch", first, "--arch", second, include=CARD)
    assert made.exit_code == 0, made.stdout
    assert made.stdout.count("2 of 2 runs print what the original prints") == 2, made.stdout


@pytest.mark.amd
@pytest.mark.nvidia
@pytest.mark.slow
def test_a_port_that_passes_its_tests_and_prints_something_else(tmp_path: Path) -> None:
    made, runs, page = project(tmp_path, wrong=1)
    assert made.exit_code == 1
    assert "gfx1100: build passed, tests passed" in made.stdout
    assert "2 differ" in made.stdout
    # 1 + 2 + 3 + 4 and 1 + … + 6.
    assert "'11' instead of '10'" in runs[0]["why"]
    assert "'22' instead of '21'" in runs[1]["why"]
    assert '<span class="differs">' in page


@pytest.mark.amd
@pytest.mark.nvidia
@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "include", "why"),
    [
        ("", "#ifndef __HIP__\n#include <not_there.h>\n#endif", "not_there.h"),
        ("$(if $(NVCC),-lnot_there)", "", "not_there"),
        ("$(if $(NVCC),-lcublas)", "", "it links cublas, which lifted programs do not have"),
    ],
)
def test_an_original_that_cannot_be_built_is_no_reference(
    tmp_path: Path, more: str, include: str, why: str
) -> None:
    made, runs, _ = project(tmp_path, more=more, include=include)
    assert made.exit_code == 0, made.stderr
    assert "reference: none (the original does not build with nvcc: " in made.stdout
    assert why in made.stdout
    assert runs == []


@pytest.mark.amd
@pytest.mark.slow
def test_the_reference_can_be_left_out(tmp_path: Path) -> None:
    made, runs, _ = project(tmp_path, "--no-reference", wrong=1)
    assert made.exit_code == 0
    assert "reference:" not in made.stdout and "original" not in made.stderr
    assert runs == []
