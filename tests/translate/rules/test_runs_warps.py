"""Translated warp code gives what CUDA defines: every expected value is computed by hand.

On wavefronts of 32 lanes, and on wavefronts of 64, where the second warp of a block is the upper
half of a wavefront; where a block has two warps, the second one's results are looked at.
"""

from __future__ import annotations

import pytest

from tests.translate.programs import output_of, output_on_wavefronts_of_64

SOURCE = r"""
#include <cstdio>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void votes(unsigned* out) {
  unsigned lane = threadIdx.x % warpSize;
  unsigned odd = __ballot_sync(0xffffffffu, lane & 1);
  unsigned upper = 0, active = 0;
  int any = 0, all = 0, uni = 0;
  if (lane >= 16) {
    upper = __ballot_sync(0xffff0000u, lane % 4 == 0);
    active = __activemask();
    any = __any_sync(0xffff0000u, lane == 3);
    all = __all_sync(0xffff0000u, lane > 15);
  }
  if (threadIdx.x == 52) {
    out[0] = odd; out[1] = upper; out[2] = active; out[3] = any; out[4] = all;
  }
}

__global__ void shuffles(int* out) {
  int lane = threadIdx.x % 32;
  int sum = lane;
  for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  int down = __shfl_down_sync(0xffffffffu, lane * 10, 1, 8);
  int up = __shfl_up_sync(0xffffffffu, lane * 10, 2);
  int read = __shfl_sync(0xffffffffu, lane * lane, 5, 16);
  int pair = 0;
  if (lane < 2) pair = __shfl_xor_sync(0x3u, lane + 100, 1);
  if (threadIdx.x < 32) return;
  if (lane == 7) { out[0] = sum; out[1] = down; out[2] = up; out[3] = read; }
  if (lane == 17) out[4] = read;
  if (lane == 1) { out[5] = up; out[6] = pair; }
}

__global__ void matches(unsigned* out) {
  unsigned lane = threadIdx.x % 32;
  unsigned same = __match_any_sync(0xffffffffu, lane / 8);
  int equal = -1;
  unsigned all = __match_all_sync(0xffffffffu, 7, &equal);
  int differs = -1;
  unsigned none = __match_all_sync(0xffffffffu, lane, &differs);
  unsigned low = 0;
  if (lane < 4) low = __reduce_add_sync(0xfu, lane + 1);
  int least = __reduce_min_sync(0xffffffffu, (int)lane - 20);
  unsigned most = __reduce_max_sync(0xffffffffu, lane * 3);
  unsigned bits = __reduce_or_sync(0xffffffffu, 1u << (lane % 3));
  if (threadIdx.x == 34) {
    out[0] = same; out[1] = all; out[2] = equal; out[3] = none; out[4] = differs;
    out[5] = low; out[6] = (unsigned)least; out[7] = most; out[8] = bits;
  }
}

__global__ void groups(int* out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int sum = cg::reduce(tile, (int)block.thread_rank(), cg::plus<int>());
  int most = cg::reduce(tile, (int)threadIdx.x % 5, cg::greater<int>());
  int before = cg::exclusive_scan(tile, 2);
  int upto = cg::inclusive_scan(tile, (int)tile.thread_rank());
  unsigned votes = tile.ballot(tile.thread_rank() % 2 == 0);
  int next = tile.shfl(threadIdx.x * 2, 3);
  int sizes = tile.size() * 100 + tile.meta_group_size();
  int active = 0;
  if (threadIdx.x % 3 == 0) {
    cg::coalesced_group some = cg::coalesced_threads();
    active = some.size() * 100 + some.thread_rank();
  }
  block.sync();
  if (threadIdx.x == 21) {
    out[0] = sum; out[1] = most; out[2] = before; out[3] = upto; out[4] = votes; out[5] = next;
    out[6] = sizes; out[7] = active; out[8] = tile.meta_group_rank();
  }
}

template <typename T> void show(const char* name, T* values, int count) {
  cudaDeviceSynchronize();
  printf("%s:", name);
  for (int i = 0; i < count; ++i) printf(" %lld", (long long)values[i]);
  printf("\n");
  cudaMemset(values, 0, 64 * sizeof(T));
  cudaDeviceSynchronize();
}

__global__ void wide(int* out) {
  __shared__ cg::block_tile_memory<128> memory;
  auto tile = cg::tiled_partition<128>(cg::this_thread_block(memory));
  int rank = tile.thread_rank();
  int read = tile.shfl(rank * 3, 100);
  double half = tile.shfl(rank / 2.0, 77);
  int all = tile.all(rank < 128), none = tile.all(rank < 127), any = tile.any(rank == 127);
  __shared__ int sum;
  if (rank == 0) sum = 0;
  tile.sync();
  atomicAdd(&sum, rank);
  tile.sync();
  if (rank == 3) {
    out[0] = read; out[1] = (int)(half * 2); out[2] = all; out[3] = none; out[4] = any;
    out[5] = sum; out[6] = tile.size();
  }
}

int main() {
  unsigned* u; int* i;
  cudaMallocManaged(&u, 64 * sizeof(unsigned));
  cudaMallocManaged(&i, 64 * sizeof(int));
  votes<<<1, 64>>>(u); show("votes", u, 5);
  shuffles<<<1, 64>>>(i); show("shuffles", i, 7);
  matches<<<1, 64>>>(u); show("matches", u, 9);
  groups<<<1, 32>>>(i); show("groups", i, 9);
  wide<<<2, 128>>>(i); show("wide", i, 7);
  printf("status: %s\n", cudaGetErrorString(cudaGetLastError()));
}
"""


@pytest.fixture(scope="module", params=[32, 64])
def output(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    if request.param == 64:
        return output_on_wavefronts_of_64(SOURCE, tmp_path_factory.mktemp("wave64"))
    return output_of(SOURCE)


@pytest.mark.amd
@pytest.mark.parametrize(
    ("name", "values"),
    [
        # Odd lanes; lanes 16 to 31 that are multiples of 4; those 16 lanes; lane 3 is not among
        # them; all are above 15.
        ("votes", [0xAAAAAAAA, 0x11110000, 0xFFFF0000, 0, 1]),
        # 0 + … + 31; lane 7 ends its segment of 8 and keeps its own; lane 5's; 5 * 5 in the first
        # segment of 16 and 21 * 21 in the second; lane 1 has none 2 below; the other of a pair.
        ("shuffles", [496, 70, 50, 25, 441, 10, 100]),
        # Lane 2 is among lanes 0 to 7; 1 + 2 + 3 + 4; 0 - 20 as unsigned; 31 * 3.
        ("matches", [0xFF, 0xFFFFFFFF, 1, 0, 0, 10, 2**32 - 20, 93, 7]),
        # Rank 100's; rank 77's, twice; 0 + … + 127.
        ("wide", [300, 77, 1, 0, 1, 8128, 128]),
        # Thread 21 is rank 5 of tile 2: 16 + … + 23; of 16 to 23 modulo 5 the largest; 5 times 2;
        # 0 + … + 5; even ranks; thread 19's; 8 threads, 4 tiles; 11 multiples of 3, 21 the eighth.
        ("groups", [156, 4, 10, 15, 0x55, 38, 804, 1107, 2]),
    ],
)
def test_warps_and_groups(output: dict[str, str], name: str, values: list[int]) -> None:
    assert [int(item) for item in output[name].split()] == values


@pytest.mark.amd
def test_no_call_failed(output: dict[str, str]) -> None:
    assert output["status"] == "no error"
