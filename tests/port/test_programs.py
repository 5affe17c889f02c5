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


def test_missing_call_says_so_once_and_fails(run_ported: Callable[..., Completed]) -> None:
    done = run_ported("unsupported.cu", UNSUPPORTED)
    assert done.stdout_text == "801 801\n801\n"
    assert done.stderr_text == "cass port: cudaIpcGetMemHandle is not supported\n"
