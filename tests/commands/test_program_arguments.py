"""Programs that want arguments: what is said where they got none, or where words are left over."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands import parity, verify
from cass_ray.commands.program_arguments import arguments_wanted

TAKES_N = r"""
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void twice(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 2 * i;
}
int main(int argc, char** argv) {
  @check@
  const int n = atoi(argv[1]);
  int *p, sum = 0, values[256] = {};
  cudaMalloc(&p, sizeof values);
  twice<<<4, 64>>>(p, n);
  cudaMemcpy(values, p, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int each : values) sum += each;
  printf("sum %d\n", sum);
}
"""
CHECKS = [
    pytest.param('if (argc < 2) { fprintf(stderr, "usage: %s N\\n", argv[0]); return 2; }', id="2"),
    pytest.param('if (argc < 2) { printf("Usage: prog N\\n"); return 1; }', id="on stdout"),
    pytest.param("if (argc != 2) exit(255);", id="silent"),
    pytest.param("", id="it crashes"),
]


@pytest.mark.amd
@pytest.mark.parametrize("check", CHECKS)
def test_a_program_that_wants_arguments(tmp_path: Path, check: str) -> None:
    program = tmp_path / "a.cu"
    program.write_text(TAKES_N.replace("@check@", check))
    done = CliRunner().invoke(verify.app, [str(program), "--reference-backend", "rdna3"])
    assert done.exit_code == 4, done.output
    advice = f'next: cass verify {program} --with "ARGUMENTS"    # the program wants arguments\n'
    assert advice in done.stderr


@pytest.mark.amd
def test_with_them_nothing_more_is_said(tmp_path: Path) -> None:
    program = tmp_path / "a.cu"
    program.write_text(TAKES_N.replace("@check@", ""))
    given = [str(program), "--with", "50", "--reference-backend", "rdna3"]
    done = CliRunner().invoke(verify.app, given)
    assert done.stdout.startswith("agrees"), done.output
    assert "ARGUMENTS" not in done.stderr


@pytest.mark.amd
def test_parity_says_it_too(tmp_path: Path) -> None:
    program = tmp_path / "a.cu"
    program.write_text(TAKES_N.replace("@check@", "if (argc < 2) return 2;"))
    done = CliRunner().invoke(parity.app, [str(program), "--backend", "rdna3"])
    assert done.exit_code == 1
    assert 'the program wants arguments: --with "…"' in done.stderr


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (["a.cu", "a.hip", "50"], '--with "50"'),
        (["a.cu", "a.hip", "50", "33"], '--with "50 33"'),
        (["a.cu", "a.hip", "--with", "50", "33"], '--with "50 33"'),
        (["a.cu", "--with", "50", "33"], '--with "50 33"'),
        (["a.cu", "a.hip", "--", "-n", "5"], '--with "-n 5"'),
        (["a.cu", "a.hip", "a file"], "--with \"'a file'\""),
        (["a.cu", "a.hip", '"'], "--with ''"),
    ],
)
def test_words_that_are_left_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str], hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.cu", "a.hip"):
        Path(name).write_text("int main() {}\n")
    done = CliRunner().invoke(verify.app, typed)
    assert done.exit_code == 2
    assert f"arguments of the program are one text: {hint}" in one_line(done.stderr)


def test_a_file_that_is_left_over_is_no_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.cu", "a.hip"):
        Path(name).write_text("int main() {}\n")
    done = CliRunner().invoke(verify.app, ["--with", "50", "33", "a.cu", "a.hip"])
    assert done.exit_code == 2
    assert "unexpected: a.hip" in done.stderr
    assert "one text" not in done.stderr


def test_a_missing_port_is_no_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text("int main() {}\n")
    done = CliRunner().invoke(verify.app, ["a.cu", "b.hip", "--with", "50"])
    assert "b.hip is not a file" in done.stderr
    assert "one text" not in done.stderr


OTHER_FILE = """
#include <cuda_runtime.h>
int elsewhere(int x);
__device__ int there(int x);
__global__ void set(int* p) { *p = @device@; }
int main() { int* p; cudaMalloc(&p, 4); set<<<1, 1>>>(p); return @host@; }
"""


@pytest.mark.amd
@pytest.mark.parametrize(("device", "host"), [("there(1)", "0"), ("1", "elsewhere(1)")])
def test_one_file_of_several_is_a_projects(tmp_path: Path, device: str, host: str) -> None:
    program = tmp_path / "a.cu"
    program.write_text(OTHER_FILE.replace("@device@", device).replace("@host@", host))
    done = CliRunner().invoke(verify.app, [str(program), "--reference-backend", "rdna3"])
    assert done.exit_code == 1
    assert "undefined" in done.stderr
    assert "next: cass project FOLDER" in done.stderr


@pytest.mark.amd
def test_another_error_of_a_compiler_is_not(tmp_path: Path) -> None:
    program = tmp_path / "a.cu"
    program.write_text("int main() { return not_declared; }\n")
    done = CliRunner().invoke(verify.app, [str(program), "--reference-backend", "rdna3"])
    assert done.exit_code == 1
    assert "cass project" not in done.stderr


def one_line(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


@pytest.mark.parametrize(
    ("problem", "text", "given", "said"),
    [
        ("exit (status 2): usage: /cass/program N", "", [], "the program wants arguments"),
        ("exit (status 1): missing argument", "", [], "the program wants arguments"),
        ("signal (status 11): ", "n = atoi(argv[1]);", [], "the program wants arguments"),
        ("exit (status 1): out of memory", "int main() {}", [], ""),
        ("exit (status 1): out of memory", "int main(int, char** argv)", ["5"], ""),
        ("exit (status 2): Usage: N M", "argv", ["5"], "the program fails on these arguments"),
    ],
)
def test_what_speaks_for_it(problem: str, text: str, given: list[str], said: str) -> None:
    assert arguments_wanted(problem, [text], given) == said
