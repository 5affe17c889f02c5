"""Pairs under invented names."""

import random

import pytest

from cass_ray.train.data.augment import as_written_for_hip, own_names
from cass_ray.train.data.augment import respell as respell_lines
from tests.train.conftest import cuda_program


def to_hip(cuda: str) -> str:
    return cuda.replace("cuda_runtime.h", "hip/hip_runtime.h").replace("cuda", "hip")


def respell(cuda: str, hip: str, chance: random.Random) -> tuple[str, str]:
    left, right = respell_lines(cuda.split("\n"), hip.split("\n"), chance)
    return "\n".join(left), "\n".join(right)


def test_own_names_are_what_the_program_declares():
    cuda = cuda_program(3)
    assert own_names(cuda.split("\n"), to_hip(cuda).split("\n")) == [
        "kernel3",
        "a",
        "b",
        "out",
        "n",
        "i",
        "x",
    ]


@pytest.mark.parametrize("number", range(12))
def test_both_sides_are_respelled_alike_and_nothing_else_changes(number):
    cuda = cuda_program(number)
    new_cuda, new_hip = respell(cuda, to_hip(cuda), random.Random(number))
    assert new_cuda != cuda
    assert new_hip == to_hip(new_cuda)
    assert len(new_cuda.split()) == len(cuda.split())
    for kept in ("int main()", "cudaMallocManaged(&", "blockIdx.x *", 'printf("%f\\n",', "<<<1, "):
        assert (kept in new_cuda) == (kept in cuda)


def test_the_same_seed_gives_the_same_names():
    cuda = cuda_program(5)
    first, second = (respell(cuda, to_hip(cuda), random.Random(1)) for _ in range(2))
    assert first == second
    assert respell(cuda, to_hip(cuda), random.Random(2)) != first


def test_names_of_the_program_that_name_cuda_name_hip_on_both_sides():
    cuda = [
        "#define CUDA_CHECK(call) check(call)",
        "void checkCudaErrors(int line);",
        "CUDA_CHECK(cudaMalloc(&p, 4)); checkCudaErrors(1); CU_MINE(2);",
    ]
    hip = [cuda[0], cuda[1], cuda[2].replace("cudaMalloc", "hipMalloc")]
    left, right = as_written_for_hip(cuda, hip)
    assert left == [
        "#define HIP_CHECK(call) check(call)",
        "void checkHipErrors(int line);",
        "HIP_CHECK(cudaMalloc(&p, 4)); checkHipErrors(1); CU_MINE(2);",
    ]
    assert right == [line.replace("cudaMalloc", "hipMalloc") for line in left]


def test_a_name_that_is_taken_stays():
    cuda = ["#define CUDA_CHECK(x) x", "#define HIP_CHECK(x) x", "CUDA_CHECK(1);"]
    assert as_written_for_hip(cuda, cuda) == (cuda, cuda)
