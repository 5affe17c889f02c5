"""Barriers in shared memory, bulk copies, and warps that wait for each other's words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.lift.frontend.container import cubins_in
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, port
from cass_ray.toolchain.sandbox.process import Completed
from tests.port.pairs import NEWER_TO_BOTH_WAVES

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]


def run(lifter: ContainerLifter, executable: Path, processor: str) -> Completed:
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(executable), chosen)
    assert not ported.failures
    options = RunOptions(seconds=120, devices=(processor,))
    return execute(ported, [], runtime_library(), options)


@pytest.mark.parametrize(
    ("architecture", "processor"),
    [
        ("sm_90", "gfx942"),
        *(
            pytest.param(*others, marks=pytest.mark.slow)
            for others in [
                ("sm_120", "gfx1100"),
                ("sm_90", "gfx1100"),
                ("sm_120", "gfx942"),
                ("sm_80", "gfx1100"),
                ("sm_80", "gfx942"),
            ]
        ),
    ],
)
def test_barriers_do_what_the_ptx_isa_says(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str, processor: str
) -> None:
    """The program knows each state of a barrier and each number that a kernel gives."""
    done = run(lifter, build("barriers.cu", architecture=architecture), processor)
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)


@pytest.mark.parametrize(
    ("architecture", "processor"),
    NEWER_TO_BOTH_WAVES,
)
def test_numbers_are_reduced_each_at_once(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str, processor: str
) -> None:
    """Sums, lesser and greater numbers that the program knows, in each format."""
    done = run(lifter, build("bulk_reductions.cu", architecture=architecture), processor)
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)


@pytest.mark.parametrize(
    "architecture", ["sm_80", pytest.param("sm_90", marks=pytest.mark.slow), "sm_120"]
)
def test_words_of_shared_memory_are_loaded_again(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str
) -> None:
    done = run(lifter, build("flags.cu", architecture=architecture), "gfx1100")
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)


OWN_BARRIERS = r"""
#include <cstdint>
#include <cstdio>

__device__ bool over(uint32_t bar) {
  uint32_t found;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
      : "=r"(found) : "r"(bar) : "memory");
  return found;
}

__device__ void arrive(uint32_t bar) {
  uint64_t token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(bar) : "memory");
}

// Each lane asks for a barrier of its own, of which every other one is over; then all wait.
__global__ void kernel(int *out) {
  __shared__ uint64_t own[64], common;
  const uint32_t bar = (uint32_t)__cvta_generic_to_shared(&own[threadIdx.x]);
  const uint32_t all = (uint32_t)__cvta_generic_to_shared(&common);
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(all) : "memory");
  __syncthreads();
  if (threadIdx.x % 2) arrive(bar);
  __syncwarp();
  out[threadIdx.x] = over(bar);
  arrive(all);
  while (!over(all)) {
  }
  out[threadIdx.x] += 2;
}

int main() {
  int *memory, found[64];
  cudaMalloc(&memory, sizeof(found));
  kernel<<<1, 64>>>(memory);
  std::printf("%d", cudaMemcpy(found, memory, sizeof(found), cudaMemcpyDeviceToHost) != 0);
  int wrong = 0;
  for (int t = 0; t < 64; ++t) wrong += found[t] != 2 + t % 2;
  std::printf(" %d\n", wrong);
}
"""


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_lanes_that_differ_in_a_phase_are_right_or_an_error(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str
) -> None:
    """Where two warps share a wave they would come apart there."""
    executable = build("own_barriers.cu", OWN_BARRIERS, architecture)
    assert run(lifter, executable, "gfx1100").stdout_text == "0 0\n"
    done = run(lifter, executable, "gfx942")
    assert done.returncode != 0 or done.stdout_text.startswith("1 ")
    assert "trap" in done.stderr_text


BROADCASTS = ("R2UR.BROADCAST", "SYNCS.CCTL.IVALL")
EACH_LANE_ITS_OWN = r"""
#include <cstdint>
#include <cstdio>

__global__ void gather(const int* from, int* to) {
  __shared__ alignas(16) int tiles[8][4];
  __shared__ alignas(8) uint64_t bars[8];
  const int k = threadIdx.x;
  const auto bar = static_cast<uint32_t>(__cvta_generic_to_shared(bars + k % 8));
  const auto tile = static_cast<uint32_t>(__cvta_generic_to_shared(tiles[k % 8]));
  if (k < 8) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bar), "r"(1) : "memory");
  __syncthreads();
  if (k < 8) {  // lane k takes the row 7 - k
    asm volatile(
        "{ .reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [%2], 16;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2]; }"
        ::"r"(tile), "l"(from + 4 * (7 - k)), "r"(bar) : "memory");
  }
  for (uint32_t over = 0; !over;) {
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(over) : "r"(bar) : "memory");
  }
  to[k] = tiles[k / 4][k % 4];
}

int main() {
  int host[32], *from, *to;
  for (int k = 0; k < 32; ++k) host[k] = 100 + k;
  cudaMalloc(&from, sizeof host);
  cudaMalloc(&to, sizeof host);
  cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
  gather<<<1, 32>>>(from, to);
  cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost);
  for (int k = 0; k < 32; ++k) std::printf("%d ", host[k]);
}
"""


@pytest.mark.parametrize(
    ("architecture", "instructions", "processor"),
    [
        ("sm_90", (), "gfx942"),
        ("sm_100", BROADCASTS, "gfx1100"),
        pytest.param("sm_90", (), "gfx1100", marks=pytest.mark.slow),
        pytest.param("sm_100", BROADCASTS, "gfx942", marks=pytest.mark.slow),
    ],
)
def test_lanes_initialize_barriers_and_copy_in_turns(
    lifter: ContainerLifter,
    build: Callable[..., Path],
    architecture: str,
    instructions: tuple[str, ...],
    processor: str,
) -> None:
    """Row 7 - k of four numbers from 100 on is in tile k."""
    executable = build("turns.cu", EACH_LANE_ITS_OWN, architecture=architecture)
    cubins = [found.data for found in cubins_in(executable, lifter.nvidia)]
    listings = "".join(lifter.nvidia.disassemble(cubins))
    assert all(name in listings for name in instructions)
    done = run(lifter, executable, processor)
    rows = range(7, -1, -1)
    wanted = "".join(f"{100 + 4 * row + n} " for row in rows for n in range(4))
    assert (done.stdout_text, done.stderr_text, done.returncode) == (wanted, "", 0)
