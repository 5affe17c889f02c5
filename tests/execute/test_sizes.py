"""Without arguments a program that takes a size runs on odd ones, too: large and smallest."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.execute.grades import Grade
from cass_ray.execute.inputs import argument_positions
from cass_ray.execute.verification import PortVerification
from cass_ray.public.verifying import Comparison, compare_programs

PROGRAM = """
#include <cstdio>
#include <cstdlib>
#include <vector>
HELPER
template <class T>
__global__ void squares(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i] + 1;
}
int main(int argc, char** argv) {
  const int n = READ;
  REFUSAL
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 37;
  int *in, *out;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  squares<<<(n + 63) / 64, 64>>>(in, out, n);
  cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += host[i] * (i + 1L);
  printf("sum %ld\\n", sum);
}
"""
READ = "argc > 1 ? atoi(argv[1]) : 256"


def program(read: str = READ, refusal: str = "if (n < 1) return 2;", helper: str = "") -> str:
    text = PROGRAM.replace("READ", read).replace("REFUSAL", refusal)
    return text.replace("HELPER", helper)


def judged(folder: Path, original: str, port: str = "") -> PortVerification:
    (folder / "original.cu").write_text(original)
    (folder / "port.cu").write_text(port or original)
    (result,) = compare_programs(folder / "original.cu", folder / "port.cu", Comparison()).values()
    return result


HELPER = (
    "static int number(int argc, char** argv, int at, int otherwise)"
    " { return argc > at ? atoi(argv[at]) : otherwise; }"
)
READERS = {
    "atoi": program(),
    "a function of its own": program("number(argc, argv, 1, 256)", helper=HELPER),
    "std::stoi": program("argc > 1 ? std::stoi(argv[1]) : 256", helper="#include <string>"),
}
WRONG = {
    "one thread more": ("if (i < n)", "if (i <= n)"),
    "no part of a block": ("if (i < n)", "if (i < n / 32 * 32)"),
    "too few blocks": ("(n + 63) / 64", "n / 64"),
}


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("fault", WRONG)
@pytest.mark.parametrize("reader", READERS)
def test_faults_at_the_bound_are_found(reader: str, fault: str, tmp_path: Path) -> None:
    original = READERS[reader]
    port = original.replace(*WRONG[fault])
    assert port != original
    result = judged(tmp_path, original, port)
    assert result.grade is Grade.DIFFERS
    assert "size 1000" in result.reason


SMALL = {
    "one element is left out": ("if (i < n)", "if (i < n && n > 1)"),
    "the first thread alone waits": ("if (i < n)", "if (i < n && (i > 0 || n > 33))"),
    "no block for less than a warp": ("(n + 63) / 64", "(n < 32 ? 0 : (n + 63) / 64)"),
    "an early end": ("if (n < 1) return 2;", "if (n < 2) return 2;"),
}


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("fault", SMALL)
def test_faults_of_the_smallest_size_are_found(fault: str, tmp_path: Path) -> None:
    port = program().replace(*SMALL[fault])
    assert port != program()
    result = judged(tmp_path, program(), port)
    assert result.grade is Grade.DIFFERS
    assert "size 1 " in result.reason


RIGHT = {
    # by the original: what it takes, and how many inputs there are then
    "any size": (program(), 3),
    "a power of two": (program(refusal="if (n & (n - 1)) return 2;"), 2),
    "at most fifty": (program(refusal="if (n > 50 && n != 256) return 2;"), 3),
    "two elements at least": (program(refusal="if (n < 2) return 2;"), 3),
    "no size": (program("argc > 1 ? 256 : 256"), 1),
    "a size that it ignores": (program("argc > 1 && atoi(argv[1]) < 0 ? 1 : 256"), 1),
    "out of bounds for what is no multiple": (
        program().replace("if (i < n)", "if (i < (n + 63) / 64 * 64)"),
        1,
    ),
}


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("kind", RIGHT)
def test_right_ports_are_verified(kind: str, tmp_path: Path) -> None:
    original, inputs = RIGHT[kind]
    result = judged(tmp_path, original)
    assert result.grade is Grade.VERIFIED, result.reason
    assert len([run for run in result.runs if not run.kernel]) == inputs


def test_how_numbers_are_read() -> None:
    assert argument_positions("int n = number(argc, argv, 2, 7);") == {2: False}
    assert argument_positions("float x = atof(argv[1]); int n = atoi(argv[3]);") == {
        1: True,
        3: False,
    }
    assert argument_positions("run(argc, argv);") == {}
