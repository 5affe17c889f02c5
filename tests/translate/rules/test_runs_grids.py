"""Members of a grid; expected values are computed by hand from the numbers of blocks."""

from __future__ import annotations

import pytest

from tests.translate.programs import output_of

SOURCE = r"""
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__device__ unsigned long long of_parameter(const cg::grid_group& whole) {
  return 1000 * whole.num_blocks() + whole.block_rank();
}
__device__ unsigned of_block(const cg::thread_block& own) { return own.dim_threads().y; }
struct Own { __device__ int block_rank() const { return 5; } };

__global__ void number(unsigned long long* out) {
  auto grid = cg::this_grid();
  const cg::grid_group other(grid);
  const Own own;
  const auto block = cg::this_thread_block();
  if (blockIdx.x != 1 || blockIdx.y != 2 || blockIdx.z != 1 || threadIdx.x || threadIdx.y) return;
  out[0] = grid.block_rank();
  out[1] = cg::this_grid().num_blocks();
  out[2] = other.block_index().x + 10 * grid.block_index().y + 100 * grid.block_index().z;
  out[3] = grid.dim_blocks().x + 10 * grid.group_dim().y + 100 * grid.dim_blocks().z;
  out[4] = grid.num_threads();
  out[5] = of_parameter(grid);
  out[6] = own.block_rank();
  out[7] = block.group_dim().x + 10 * of_block(block) + 100 * cg::this_thread_block().group_dim().z;
}

int main() {
  unsigned long long* out;
  cudaMallocManaged(&out, 8 * sizeof *out);
  number<<<dim3(2, 3, 4), dim3(4, 8)>>>(out);
  cudaDeviceSynchronize();
  printf("block (1, 2, 1) of 2 x 3 x 4:");
  for (int i = 0; i < 8; i++) printf(" %llu", out[i]);
}
"""


@pytest.mark.amd
@pytest.mark.parametrize("target", ["gfx1100", "gfx942"])
def test_members_of_grids(target: str) -> None:
    expected = "11 24 121 432 768 24011 5 184"
    assert output_of(SOURCE, architecture=target) == {"block (1, 2, 1) of 2 x 3 x 4": expected}
