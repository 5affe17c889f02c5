#include <cooperative_groups.h>
#include <iostream>
#include <vector>
namespace cg = cooperative_groups;
#define WARP_SIZE 32
#define FULL_MASK 0xffffffffu
__inline__ __device__ int warp_sum(int value) {
#pragma unroll
  for (int mask = WARP_SIZE / 2; mask > 0; mask >>= 1) value += __shfl_xor_sync(FULL_MASK, value, mask);
  return value;
}
__inline__ __device__ int block_sum(int value) {
  static __shared__ int shared[WARP_SIZE];
  const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
  value = warp_sum(value);
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / WARP_SIZE ? shared[lane] : 0;
  return warp == 0 ? warp_sum(value) : 0;
}
__global__ void all(int* out) {
  const int sum = block_sum(threadIdx.x);
  if (threadIdx.x == 0) out[0] = sum;
  const unsigned odd = __ballot_sync(FULL_MASK, threadIdx.x & 1);
  if (threadIdx.x == 32) out[1] = __popc(odd), out[2] = int(odd & 0xf);
  const int before = __shfl_up_sync(FULL_MASK, threadIdx.x, 1);
  if (threadIdx.x == 33) out[3] = before;
  const unsigned same = __match_any_sync(FULL_MASK, threadIdx.x / 8);
  if (threadIdx.x == 40) out[4] = __popc(same), out[5] = __ffs(same);
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int value = threadIdx.x;
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
  if (threadIdx.x == 48) out[6] = value, out[7] = tile.meta_group_rank();
  if (__all_sync(FULL_MASK, threadIdx.x < 96) && threadIdx.x == 64) out[8] = 1;
  if (__any_sync(FULL_MASK, threadIdx.x == 127) && threadIdx.x == 96) out[9] = 1;
}
int main() {
  int* out;
  cudaMallocManaged(&out, 10 * sizeof(int));
  for (int i = 0; i < 10; ++i) out[i] = 0;
  all<<<1, 128>>>(out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int value : std::vector<int>(out, out + 10)) std::cout << value << ' ';
  std::cout << std::endl;
}
