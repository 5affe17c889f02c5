"""``cass run``: what a program says and how it ends are passed on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest
from typer.testing import CliRunner, Result

from cass_ray.cli import app
from cass_ray.commands import run as command
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.process import Starved
from cass_ray.toolchain.unit import Unit

HIP_PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
__global__ void triple(int *value) { *value *= 3; }
int main(int argc, char **argv) {
  int *device, value = argc > 1 ? atoi(argv[1]) : 5;
  hipMalloc(&device, sizeof value);
  hipMemcpy(device, &value, sizeof value, hipMemcpyHostToDevice);
  triple<<<1, 1>>>(device);
  hipMemcpy(&value, device, sizeof value, hipMemcpyDeviceToHost);
  printf("%d\\n", value);
  fprintf(stderr, "done\\n");
  return argc > 2 ? atoi(argv[2]) : 0;
}
"""

CUDA_PROGRAM = """\
#include "step.cuh"
#include <cstdio>
int main() {
  int *device, value = 40;
  cudaMalloc(&device, sizeof value);
  cudaMemcpy(device, &value, sizeof value, cudaMemcpyHostToDevice);
  step<<<1, 1>>>(device);
  cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
  printf("%d\\n", value);
  return 0;
}
"""
CUDA_HEADER = """\
#include <cuda_runtime.h>
__global__ void step(int *value) { *value += STEP; }
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["run", *map(str, arguments)])


@pytest.fixture(scope="module")
def compiles() -> None:
    if not isolation.available():
        pytest.skip(isolation.problem())
    try:
        find_amd()
    except ToolMissing as error:
        pytest.skip(str(error))


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "triple.hip"
    path.write_text(HIP_PROGRAM)
    return path


@pytest.mark.amd
@pytest.mark.usefixtures("compiles")
class TestPrograms:
    def test_output_and_exit_code_are_the_programs(self, program: Path) -> None:
        result = run(program, "--", "14", "9")
        assert (result.stdout, result.exit_code) == ("42\n", 9)
        assert "done\n" in result.stderr

    def test_a_second_run_compiles_nothing(
        self, program: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert run(program).stdout == "15\n"
        monkeypatch.setattr("cass_ray.toolchain.amd.link.recombine", None)
        assert run(program).stdout == "15\n"

    def test_cuda_is_translated_with_its_headers(self, tmp_path: Path) -> None:
        (tmp_path / "include").mkdir()
        (tmp_path / "include/step.cuh").write_text(CUDA_HEADER)
        (tmp_path / "main.cu").write_text(CUDA_PROGRAM)
        result = run(tmp_path / "main.cu", "-I", "include", "-D", "STEP=2")
        assert (result.stdout, result.exit_code) == ("42\n", 0), result.stderr

    def test_edited_device_assembly_is_what_runs(self, program: Path) -> None:
        made = find_amd().compile(Unit(program.parent, PurePosixPath(program.name)))
        assembly = program.with_suffix(".s")
        lines = made.device_assembly.splitlines(keepends=True)
        stores = [index for index, line in enumerate(lines) if "global_store_b32" in line]
        assert len(stores) == 1
        register = lines[stores[0]].split(",")[1].strip()
        lines.insert(stores[0], f"\tv_add_nc_u32_e32 {register}, 0x3e8, {register}\n")
        assembly.write_text("".join(lines))
        assert run(assembly, "--host", program).stdout == "1015\n"

    def test_what_does_not_compile_is_shown(self, tmp_path: Path) -> None:
        (tmp_path / "bad.hip").write_text("int main() { return nonsense; }\n")
        result = run(tmp_path / "bad.hip")
        assert result.exit_code == 1
        assert "use of undeclared identifier 'nonsense'" in result.stderr

    def test_time_limit(self, tmp_path: Path) -> None:
        (tmp_path / "loop.hip").write_text(
            "#include <hip/hip_runtime.h>\n"
            "int main() { hipInit(0); for (volatile int i = 0;; ++i) {} }\n"
        )
        assert run(tmp_path / "loop.hip", "--seconds", "1").exit_code == 124

    def test_counters_are_json(self, program: Path, tmp_path: Path) -> None:
        counters = tmp_path / "counters.json"
        assert run(program, "--counters", counters).exit_code == 0
        assert "triple" in json.dumps(json.loads(counters.read_text()))


@pytest.mark.parametrize(
    ("names", "arguments"),
    [
        (["dev.s"], ["dev.s"]),  # without its host
        (["a.hip", "b.hip"], ["a.hip", "--host", "b.hip"]),
        (["a.txt"], ["a.txt"]),
        ([], ["absent.hip"]),
        (["a.hip"], ["a.hip", "-O", "7"]),
        (["a.hip"], ["a.hip", "-I", "../outside"]),
    ],
)
def test_usage_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in names:
        (tmp_path / name).write_text("")
    assert run(*arguments).exit_code == 2


def test_a_missing_tool_is_exit_code_3(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise ToolMissing("A compiler for AMD GPUs (clang)", "Install clang-19.")

    monkeypatch.setattr(command, "runtime_library", absent)
    result = run(program)
    assert result.exit_code == 3
    assert "Install clang-19." in result.stderr


def test_the_table_of_commands_names_run() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cass_ray.cli", "--help"], capture_output=True, text=True, check=True
    )
    assert "run " in done.stdout


GREEDY = """\
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
int main(int, char **arguments) {
  const size_t mib = atoi(arguments[2]);
  if (*arguments[1] == 'm') {
    char *memory = (char *)malloc(mib << 20);
    memset(memory, 1, mib << 20);
    usleep(600000);
    return printf("%d\\n", memory[4096]) < 0;
  }
  static char block[1 << 20];
  FILE *file = fopen("large", "w");
  size_t written = 0;
  while (written < mib && fwrite(block, 1, sizeof block, file) == sizeof block) ++written;
  return printf("%zu\\n", written) < 0;
}
"""


@pytest.mark.amd
@pytest.mark.parametrize(
    ("options", "arguments", "status", "said"),
    [
        ((), ("m", "400"), 0, "1\n"),
        (("--memory", "0.25"), ("m", "400"), 125, "--memory"),
        ((), ("f", "300"), 125, "--file-size"),
        (("--file-size", "320"), ("f", "300"), 0, "300\n"),
        (("--file-size", "10"), ("f", "30"), 125, "--file-size"),
    ],
)
def test_limits_of_memory_and_files_are_options(
    tmp_path: Path, options: tuple[str, ...], arguments: tuple[str, ...], status: int, said: str
) -> None:
    (tmp_path / "greedy.hip").write_text(GREEDY)
    done = run(tmp_path / "greedy.hip", *options, "--", *arguments)
    assert done.exit_code == status, done.output
    assert said in done.output


SPINNING = """\
#include <hip/hip_runtime.h>
__global__ void wait(volatile int *flag) { while (*flag == 0) {} }
int main() {
  int *flag;
  hipMalloc(&flag, 4);
  hipMemset(flag, 0, 4);
  wait<<<1, 1>>>(flag);
  return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
"""


@pytest.mark.amd
def test_a_kernel_that_never_ends_is_ended_at_the_programs_time(tmp_path: Path) -> None:
    """No limit of the kernel's own comes first, whose error the program would pass on as 1."""
    (tmp_path / "spinning.hip").write_text(SPINNING)
    done = run(tmp_path / "spinning.hip", "--seconds", "1.5")
    assert done.exit_code == 124, done.output
    assert "ended after 1.5 s (--seconds)" in done.output


def test_a_machine_without_a_processor_for_it_is_the_time_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def starves(*given: object) -> None:
        raise Starved("the machine is too busy: in 8 s a program had a processor for 0.1 s")

    (tmp_path / "any.hip").write_text(SPINNING)
    monkeypatch.setattr(command, "build", lambda *given, **named: tmp_path / "any")
    monkeypatch.setattr(command, "find_amd", lambda **named: None)
    monkeypatch.setattr(command, "runtime_library", lambda: tmp_path)
    monkeypatch.setattr(command, "execute", starves)
    done = run(tmp_path / "any.hip", "--seconds", "2")
    assert done.exit_code == 124
    assert "too busy" in done.output


@pytest.mark.amd
def test_json_holds_what_a_run_printed_and_how_it_ended(tmp_path: Path) -> None:
    program = tmp_path / "ends.hip"
    program.write_text(
        '#include <cstdio>\nint main() { puts("out"); fputs("err", stderr); return 3; }\n'
    )
    done = CliRunner().invoke(
        app, ["run", str(program), "--json", "--arch", "gfx1100", "--arch", "gfx942"]
    )
    assert done.exit_code == 3
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [run["target"] for run in runs] == ["gfx1100", "gfx942"]
    for run in runs:
        assert run["outcome"] == "exit"
        assert (run["stdout"], run["stderr"], run["status"]) == ("out\n", "err", 3)
