"""``cass verify --arch``: a port that is right on 32 lanes only is found on 64."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands.verify import app
from cass_ray.public.verifying import Comparison, compare_programs
from tests.translate.rules.wavefront_defects import KERNELS, cuda, naive_hip

BOTH = ["--arch", "gfx1100", "--arch", "gfx942"]
PRINTS = "with no arguments: line 1:"
DIFFERENCES = {"array": "cass emulator: read of uninitialised memory: read of LDS"}
"""Where the output is the same by luck: fresh LDS of the emulator is zero."""

SOME = [
    pytest.param(kernel, marks=[] if kernel == "array" else pytest.mark.slow) for kernel in KERNELS
]
"""What does not show in the output; the rules know them all in their own tests."""

pytestmark = pytest.mark.amd


@pytest.fixture
def original(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / f"{request.param}.cu"
    path.write_text(cuda(request.param))
    (tmp_path / "port.hip").write_text(naive_hip(request.param))
    return path


@pytest.mark.parametrize("original", SOME, indirect=True)
def test_a_port_that_counts_on_32_lanes_is_found_on_64(original: Path) -> None:
    port = original.with_name("port.hip")
    done = CliRunner().invoke(app, [str(original), str(port), *BOTH])
    assert done.exit_code == 1, done.output
    first = f"first difference: gfx942: {DIFFERENCES.get(original.stem, PRINTS)}"
    assert done.output.startswith(first)
    assert "\ngfx1100: verified (" in done.output
    assert f"\n{port}:" in done.output  # the lines that count on 32 lanes


@pytest.mark.parametrize("original", SOME, indirect=True)
def test_the_rules_translation_is_right_on_both(original: Path) -> None:
    done = CliRunner().invoke(app, [str(original), *BOTH, "--json"])
    assert done.exit_code == 0, done.output
    evidence = json.loads(done.stdout)
    assert evidence["passed"]
    assert [each["exact"] for each in evidence["architectures"].values()] == [True, True]


def test_a_processor_that_is_not_emulated(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(cuda("ballot"))
    done = CliRunner().invoke(app, [str(tmp_path / "a.cu"), "--arch", "gfx1030"])
    assert done.exit_code == 2
    assert "gfx1030" in done.output


_KERNELS = """\
#include <{header}>
__global__ void axpy(float* y, const float* x, float a, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < {bound}) y[i] = a * x[i] + y[i];
}}
template <typename T> __global__ void other(T* p) {{ p[0] = 0; }}
"""


@pytest.mark.nvidia
def test_files_without_main_are_launched_by_the_same_driver(tmp_path: Path) -> None:
    original = tmp_path / "axpy.cu"
    original.write_text(_KERNELS.format(header="cuda_runtime.h", bound="n"))
    for bound, code in (("n", 0), ("n - 1", 1)):
        port = tmp_path / "port.hip"
        port.write_text(_KERNELS.format(header="hip/hip_runtime.h", bound=bound))
        done = CliRunner().invoke(app, [str(original), str(port), "--with", "1000 64 0 3"])
        assert done.exit_code == code, done.output
        assert "\ndriver " in done.output
        first = done.output.splitlines()[0]
        assert first.startswith("differs: " if code else "verified (lifted sm_90, ")
        assert ("with 1000 64 0 3" in first) == bool(code)


# Adds up the numbers of a file and of standard input, times its argument.
_SUMS = """\
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void sum(const int* in, int n, int by, int* out) {
  for (int i = 0; i < n; ++i) *out += by * in[i];
}
int main(int argc, char** argv) {
  FILE* file = fopen(argv[1], "r");
  if (file == nullptr) { perror(argv[1]); return 3; }
  int host[64], n = 0, *in, *out, result = 0;
  for (FILE* each : {file, stdin})
    while (n < 64 && fscanf(each, "%d", &host[n]) == 1) ++n;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof result);
  cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(out, &result, sizeof result, cudaMemcpyHostToDevice);
  sum<<<1, 1>>>(in, n, atoi(argv[2]), out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  FILE* kept = fopen("result", "w");
  fprintf(kept, "%d", result);
  fclose(kept);
  printf("%d numbers: %d\\n", n, result);
}
"""


@pytest.mark.nvidia
def test_files_and_standard_input(tmp_path: Path) -> None:
    original, port, given = (tmp_path / name for name in ("sum.cu", "port.hip", "given"))
    original.write_text(_SUMS)
    given.mkdir()
    (given / "two words").write_text("1 2 3\n")
    (tmp_path / "more").write_text("10 20\n")
    options = ["--with", "'two words' 2", "--inputs", str(given), "--stdin", str(tmp_path / "more")]
    done = CliRunner().invoke(app, [str(original), *options, "--json"])
    assert done.exit_code == 0, done.output
    evidence = json.loads(done.stdout)
    assert (evidence["passed"], evidence["reference_kind"]) == (True, "lifted sm_90")
    [run] = evidence["runs"]
    assert (run["arguments"], run["stdin_bytes"], run["folder"]) == (["two words", "2"], 6, "given")
    # A port that leaves out what comes last is found by what comes from there only.
    port.write_text(_SUMS.replace("i < n;", "i < 3;").replace("cuda", "hip").replace(
        "hip_runtime.h", "hip/hip_runtime.h"))  # fmt: skip
    done = CliRunner().invoke(app, [str(original), str(port), *options])
    assert done.exit_code == 1, done.output
    given_here = "with two words 2, 6 bytes on standard input, files of given: "
    assert done.output.startswith(f"differs: {given_here}")
    assert "'12' instead of '72'" in done.output  # 2 * (1 + 2 + 3), 2 * (1 + 2 + 3 + 10 + 20)
    assert CliRunner().invoke(app, [str(original), str(port), *options[:4]]).exit_code == 0


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--with", "'a", "No closing quotation"),
        ("--inputs", "nowhere", "does not exist"),
        ("--stdin", "nowhere", "does not exist"),
    ],
)
def test_inputs_that_are_none(tmp_path: Path, option: str, value: str, message: str) -> None:
    original = tmp_path / "sum.cu"
    original.write_text(_SUMS)
    done = CliRunner().invoke(app, [str(original), option, value])
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_no_main_and_nothing_to_launch(tmp_path: Path) -> None:
    original = tmp_path / "axpy.cu"
    original.write_text("template <typename T> __global__ void other(T* p) { p[0] = 0; }\n")
    done = CliRunner().invoke(app, [str(original)])
    assert done.exit_code == 2
    assert "no kernel that a generated driver can launch" in " ".join(done.output.split())


_LIBRARY_ONLY = """\
#include <cstdio>
int main() { printf("42\\n"); }
"""


def test_a_program_without_kernels_is_never_verified(tmp_path: Path) -> None:
    """Programs that only call libraries have no kernel either: they are built and run."""
    (tmp_path / "a.cu").write_text(_LIBRARY_ONLY)
    (tmp_path / "a.hip").write_text(_LIBRARY_ONLY)
    done = CliRunner().invoke(app, [str(tmp_path / "a.cu"), str(tmp_path / "a.hip")])
    assert done.exit_code == 4, done.output
    assert done.output.startswith("cannot tell (")
    assert "no kernel was launched on either side" in done.output.splitlines()[0]


RACE = """
#include <cstdio>
__global__ void work(int* p) { p[0] = p[0] + threadIdx.x; }
int main() {
  int *p, sum;
  cudaMalloc(&p, 4);
  cudaMemset(p, 0, 4);
  work<<<1, 256>>>(p);
  cudaMemcpy(&sum, p, 4, cudaMemcpyDeviceToHost);
  printf("%d\\n", sum);
}
"""


@pytest.mark.nvidia
def test_a_race_is_no_port_that_is_verified(tmp_path: Path) -> None:
    program = tmp_path / "race.cu"
    program.write_text(RACE)
    done = CliRunner().invoke(app, [str(program)])
    assert done.exit_code == 4, done.output
    assert done.output.startswith("cannot tell") and "another order" in done.output
    assert f"next: cass run {program} --check" in done.output


@pytest.mark.nvidia
def test_who_waits_is_told_what_is_done(tmp_path: Path) -> None:
    program = tmp_path / "race.cu"
    program.write_text(RACE)
    said: list[str] = []
    compare_programs(program, None, Comparison(say=said.append), ["gfx1100"])
    steps = ("compiling the original", "launching", "compiling the port", "running the port")
    assert len(said) == len(steps)
    assert all(text.startswith(step) for text, step in zip(said, steps, strict=True))
    assert "gfx1100" in said[-1]
