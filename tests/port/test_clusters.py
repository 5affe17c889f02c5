"""Clusters of blocks, each as one workgroup; without any, each block is a cluster (PTX ISA)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, port
from cass_ray.toolchain.sandbox.process import Completed
from tests.port.pairs import NEWER_TO_BOTH_WAVES

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

PROGRAM = r"""
#include <cstdio>
#define READ(name) ([] { unsigned v; asm volatile("mov.u32 %0, %" name ";" : "=r"(v)); return v; }())

__global__ void words(unsigned *out) {
  __shared__ unsigned given[64];
  unsigned is_explicit;
  asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
               : "=r"(is_explicit));
  given[threadIdx.x] = threadIdx.x;
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned found[] = {is_explicit,
    READ("%cluster_nctaid.x"), READ("%cluster_nctaid.y"), READ("%cluster_nctaid.z"),
    READ("%cluster_nctarank"), READ("%nclusterid.x"), READ("%nclusterid.y"), READ("%nclusterid.z"),
    READ("%clusterid.x"), READ("%clusterid.y"), READ("%clusterid.z"),
    READ("%cluster_ctaid.x"), READ("%cluster_ctaid.y"), READ("%cluster_ctaid.z"),
    READ("%cluster_ctarank"), given[63 - threadIdx.x]};
  for (int n = 0; n < 16; ++n) out[(64 * block + threadIdx.x) * 16 + n] = found[n];
}

int main() {
  static unsigned found[24 * 64 * 16];
  unsigned *out;
  cudaMalloc(&out, sizeof found);
  words<<<dim3(2, 3, 4), 64>>>(out);
  if (cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  for (unsigned n = 0; n < 24 * 64; ++n) {
    const unsigned block = n / 64, wanted[] = {0, 1, 1, 1, 1, 2, 3, 4,
      block % 2, block / 2 % 3, block / 6, 0, 0, 0, 0, 63 - n % 64};
    for (int k = 0; k < 16; ++k)
      if (found[16 * n + k] != wanted[k]) return std::printf("%u: word %d is %u\n", n, k, found[16 * n + k]), 1;
  }
}
"""  # noqa: E501


PROCESSORS = ("gfx1100", "gfx942")


def run(lifter: ContainerLifter, executable: Path, processor: str) -> Completed:
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(executable), chosen)
    assert not ported.failures
    options = RunOptions(seconds=120, devices=(processor,))
    return execute(ported, [], runtime_library(), options)


@pytest.mark.parametrize(("architecture", "processor"), NEWER_TO_BOTH_WAVES)
def test_a_block_is_a_cluster(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str, processor: str
) -> None:
    done = run(lifter, build("cluster_words.cu", PROGRAM, architecture), processor)
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)


@pytest.mark.parametrize("processor", PROCESSORS)
def test_a_kernel_that_asks_for_a_cluster_of_one_block(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str
) -> None:
    """It knows that it has asked; else all is as without."""
    text = PROGRAM.replace("void words", "void __cluster_dims__(1, 1, 1) words")
    text = text.replace("wanted[] = {0,", "wanted[] = {1,")
    done = run(lifter, build("cluster_kernel.cu", text, "sm_90"), processor)
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)


SHARED = """\
sum 0: 12749
sum 1: 12773
stencil: 1619561, 0 wrong
histogram, clusters of 1: 512 numbers, sum 25522, 0 wrong, fits 1
histogram, clusters of 2: 512 numbers, sum 25522, 0 wrong, fits 1
histogram, clusters of 4: 512 numbers, sum 25522, 0 wrong, fits 1
histogram, clusters of 8: 512 numbers, sum 25522, 0 wrong, fits 1
places: 0 wrong
"""


BARRIERS = """\
ring: 559239, 0 wrong
ending: 28101, 0 wrong
odd: 196953120, 0 wrong
handshake: 80869298, 0 wrong
stores: 151514, 0 wrong
multicast: 53454, 0 wrong
spaces: 256, 0 wrong
"""


QUICK = [
    ("cluster_shared.cu", SHARED, "sm_120", "gfx1100"),
    ("cluster_barriers.cu", BARRIERS, "sm_90", "gfx942"),
    ("cluster_tensors.cu", "tiles: 450730, 0 of 768 wrong\n", "sm_120", "gfx1100"),
]
OTHERS = [
    (program, wanted, architecture, processor)
    for program, wanted, *quick in QUICK
    for architecture in ("sm_90", "sm_120")
    for processor in PROCESSORS
    if quick != [architecture, processor]
]


@pytest.mark.parametrize(
    ("program", "wanted", "architecture", "processor"),
    [*QUICK, *(pytest.param(*each, marks=pytest.mark.slow) for each in OTHERS)],
)
def test_programs_of_clusters(
    lifter: ContainerLifter,
    build: Callable[..., Path],
    program: str,
    wanted: str,
    architecture: str,
    processor: str,
) -> None:
    """They work each number out on the host, too, and say what is wrong."""
    done = run(lifter, build(program, architecture=architecture), processor)
    assert (done.stdout_text, done.stderr_text, done.returncode) == (wanted, "", 0)


@pytest.mark.parametrize("processor", PROCESSORS)
def test_launches_of_clusters(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str
) -> None:
    """Attributes, occupancy, graphs; what is too large for a workgroup is refused and named."""
    done = run(lifter, build("cluster_launches.cu", architecture="sm_90"), processor)
    assert (done.stdout_text, done.returncode) == ("", 0)
    threads, memory = done.stderr_text.splitlines()
    assert "4 blocks of 512 threads" in threads and threads.endswith("more than 1024 threads")
    assert "4 blocks of 64 threads" in memory and memory.endswith("more than 65536 bytes")


LOADED = r"""
extern "C" __global__ void chosen(int *out, char tag) {
  __shared__ int word;
  unsigned rank, there, blocks;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  if (threadIdx.x == 0) word = 10 * blockIdx.x + tag;
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  const unsigned own = (unsigned)__cvta_generic_to_shared(&word);
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"((rank + 1) % blocks));
  int found;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(found) : "r"(there) : "memory");
  if (threadIdx.x == 0) out[blockIdx.x] = found;
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) pairs(int *out, char tag) {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) out[blockIdx.x] = 100 * rank + tag;
}
"""  # noqa: E501

LOADS = r"""
#include <cuda_runtime.h>
#include <cstdio>

int main(int, char **arguments) {
  int *out, found[4];
  char tag = 3;
  cudaLibrary_t library;
  cudaKernel_t chosen, pairs;
  if (cudaMalloc(&out, sizeof found)) return 1;
  if (cudaLibraryLoadFromFile(&library, arguments[1], nullptr, nullptr, 0, nullptr, nullptr, 0)) return 2;
  if (cudaLibraryGetKernel(&chosen, library, "chosen")) return 3;
  if (cudaLibraryGetKernel(&pairs, library, "pairs")) return 4;
  void *parameters[] = {&out, &tag};
  const auto show = [&](const char *name, cudaError_t result) {
    if (result == cudaSuccess) result = cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    std::printf("%s %d: %d %d %d %d\n", name, result, found[0], found[1], found[2], found[3]);
  };
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t launch{};
  launch.gridDim = 4;
  launch.blockDim = 64;
  show("blocks", cudaLaunchKernelExC(&launch, (const void *)chosen, parameters));
  launch.attrs = &attribute;
  launch.numAttrs = 1;
  show("clusters", cudaLaunchKernelExC(&launch, (const void *)chosen, parameters));
  show("pairs", cudaLaunchKernel((const void *)pairs, 4, 64, parameters, 0, nullptr));
}
"""  # noqa: E501


@pytest.mark.parametrize("processor", [pytest.param("gfx1100", marks=pytest.mark.slow), "gfx942"])
def test_clusters_of_code_that_is_loaded(
    lifter: ContainerLifter, build: Callable[..., Path], tmp_path: Path, processor: str
) -> None:
    (tmp_path / "loaded.cu").write_text(LOADED)
    command = [lifter.nvidia.nvcc, "-arch=sm_90", "-cubin", "loaded.cu", "-o", "image"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(build("loads_clusters.cu", LOADS, "sm_90")), chosen)
    options = RunOptions(seconds=120, inputs=tmp_path, devices=(processor,))
    done = execute(ported, ["image"], runtime_library(), options)
    wanted = "blocks 0: 3 13 23 33\nclusters 0: 13 23 33 3\npairs 0: 3 103 3 103\n"
    assert (done.stdout_text, done.stderr_text, done.returncode) == (wanted, "", 0)
