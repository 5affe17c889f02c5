"""Shuffles of groups take values of any type; expected values are computed by hand."""

from __future__ import annotations

import pytest

from tests.translate.programs import output_of, output_on_wavefronts_of_64

SOURCE = r"""
#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

struct Pair { int key; char name[5]; double weight; };
struct Small { unsigned char a, b, c; };

template <class Tile, class T> __device__ T from(const Tile& tile, T value, int rank) {
  return tile.shfl(value, rank);
}
template <class Tile, class T> __device__ T below(const Tile& tile, T value) {
  return tile.shfl_up(value, 2);
}
template <class Tile, class T> __device__ T other(const Tile& tile, T value) {
  return tile.shfl_xor(value, 1);
}

template <int Size> __global__ void exchange(int* out, int* base) {
  auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  int t = threadIdx.x;
  Pair mine{t, {'a', 'b', 'c', 'd', (char)('A' + t % 26)}, t / 4.0};
  Pair got = from(tile, mine, 3);
  int* pointer = from(tile, base + t, 1);
  Small small = below(tile, Small{(unsigned char)t, 2, (unsigned char)(t + 100)});
  bool odd = other(tile, t % 2 == 1);
  double number = from(tile, t * 0.5, Size - 1);
  if (t == 37) {
    out[0] = got.key; out[1] = got.name[4]; out[2] = (int)(got.weight * 4);
    out[3] = (int)(pointer - base); out[4] = small.a; out[5] = small.c; out[6] = odd;
    out[7] = (int)(number * 2);
  }
}

int main() {
  int* out;
  cudaMallocManaged(&out, 8 * sizeof(int));
  exchange<16><<<1, 64>>>(out, out);
  cudaDeviceSynchronize();
  printf("sixteen:");
  for (int k = 0; k < 8; ++k) printf(" %d", out[k]);
  exchange<32><<<1, 64>>>(out, out);
  cudaDeviceSynchronize();
  printf("\nwarp:");
  for (int k = 0; k < 8; ++k) printf(" %d", out[k]);
  printf("\n");
}
"""


@pytest.mark.amd
@pytest.mark.parametrize("lanes", [32, 64])
def test_any_type_is_shuffled(lanes: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    if lanes == 64:
        output = output_on_wavefronts_of_64(SOURCE, tmp_path_factory.mktemp("wave64"))
    else:
        output = output_of(SOURCE)
    # Thread 37 is rank 5 of the third tile of 16, which begins at 32: ranks 3 and 1 are 35 and 33,
    # two below is 35, the other of the pair is 36, the last one is 47. ('A' + 35 % 26 is 'J'.)
    assert output["sixteen"].split() == [*("35", "74", "35"), "33", *("35", "135"), "0", "47"]
    # Of the second warp, from 32 on, the last one is 63.
    assert output["warp"].split() == [*("35", "74", "35"), "33", *("35", "135"), "0", "63"]
