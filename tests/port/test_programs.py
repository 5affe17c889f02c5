"""CUDA programs that check the runtime from within; they run as executables that nvcc made."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cass_ray.toolchain.sandbox.process import Completed

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

UNSUPPORTED = r"""
#include <cstdio>
__global__ void nothing() {}
int main() {
  cudaIpcMemHandle_t handle;
  std::printf("%d %d\n", cudaIpcGetMemHandle(&handle, nullptr), cudaIpcGetMemHandle(&handle, nullptr));
  std::printf("%d\n", cudaGetLastError());
}
"""  # noqa: E501


def test_memory(run_ported: Callable[..., Completed]) -> None:
    done = run_ported("memory.cu")
    assert (done.returncode, done.stdout_text, done.stderr_text) == (0, "", "")


def test_streams_graphs_launches_and_errors(run_ported: Callable[..., Completed]) -> None:
    done = run_ported("control.cu")
    # The text is what CUDA's own runtime prints for code 9.
    wanted = "cudaErrorInvalidConfiguration: invalid configuration argument\n"
    assert (done.returncode, done.stdout_text) == (0, wanted)


def test_arrays_textures_and_surfaces(run_ported: Callable[..., Completed]) -> None:
    done = run_ported("textures.cu")
    assert (done.returncode, done.stdout_text, done.stderr_text) == (0, "", "")


def test_missing_call_says_so_once_and_fails(run_ported: Callable[..., Completed]) -> None:
    done = run_ported("unsupported.cu", UNSUPPORTED)
    assert done.stdout_text == "801 801\n801\n"
    assert done.stderr_text == "cass port: cudaIpcGetMemHandle is not supported\n"


ATTRIBUTES = r"""
#include <cstdio>
__global__ void nothing() {}
int main() {
  cudaFuncAttributes attributes;
  std::printf("%d ", cudaFuncGetAttributes(&attributes, nothing));
  std::printf("%d %d\n", attributes.ptxVersion, attributes.binaryVersion);
}
"""


@pytest.mark.parametrize("version", [80, 89, 90])
def test_versions_of_a_kernel_are_the_originals(
    run_ported: Callable[..., Completed], version: int
) -> None:
    """nvcc -arch=sm_N puts both at N (CUDA runtime API, cudaFuncAttributes); CUB goes by them."""
    done = run_ported("attributes.cu", ATTRIBUTES, f"sm_{version}")
    assert done.stdout_text == f"0 {version} {version}\n"


@pytest.mark.slow
@pytest.mark.parametrize("version", [80, 90])
def test_cubs_radix_sort_with_wide_counts(
    run_ported: Callable[..., Completed], version: int
) -> None:
    done = run_ported("radix_sort.cu", architecture=f"sm_{version}")
    assert done.stdout_text == f"{version} {version}\n0 0 out of order 0, the same keys 1\n"
