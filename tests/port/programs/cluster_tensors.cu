// A tile that one block of a cluster loads by a tensor map for all four, each its quarter: as matrix
// products share their factors. Every block then adds up what all have loaded.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#define CHECK(call)                                               \
  do {                                                            \
    const cudaError_t result = (call);                            \
    if (result != cudaSuccess) {                                  \
      std::printf("%s: %s\n", #call, cudaGetErrorString(result)); \
      return 1;                                                   \
    }                                                             \
  } while (false)

constexpr int blocks = 4, rows = 8, columns = 32, tiles = 3;

__device__ uint32_t shared(const void *pointer) { return (uint32_t)__cvta_generic_to_shared(pointer); }

__device__ void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__global__ void __cluster_dims__(blocks, 1, 1) spread(const __grid_constant__ CUtensorMap map, int *out) {
  __shared__ __align__(128) int tile[blocks][rows / blocks][columns];
  __shared__ __align__(8) uint64_t bar;
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
  }
  meet();
  for (int step = 0; step < tiles; ++step) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared(&bar)),
                   "r"((uint32_t)sizeof tile) : "memory");
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
          "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared(tile[rank])), "l"(&map), "r"(shared(&bar)),
          "r"(columns * step - 4), "r"((int)(blockIdx.x / blocks * rows + rank * (rows / blocks))),
          "h"((uint16_t)((1 << blocks) - 1)) : "memory");
    }
    asm volatile(
        "{\n.reg .pred p;\n"
        "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
        "@!p bra again;\n}" ::"r"(shared(&bar)), "r"(step % 2) : "memory");
    int sum = 0;
    for (int row = 0; row < rows; ++row) {
      sum += (row + 1) * tile[row / (rows / blocks)][row % (rows / blocks)][threadIdx.x];
    }
    out[(blockIdx.x * tiles + step) * columns + threadIdx.x] = sum * (int)(rank + 1);
    meet();
  }
}

int main() {
  // The last tile ends outside of the tensor, and the last row is none of its.
  constexpr int width = columns * tiles - 8, height = 2 * rows - 1, grid = 2 * blocks;
  decltype(&cuTensorMapEncodeTiled) encode = nullptr;
  cudaDriverEntryPointQueryResult status;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                         cudaEnableDefault, &status));
  std::vector<int> tensor(width * height);
  for (int n = 0; n < width * height; ++n) tensor[n] = n * 29 % 97 - 40;
  int *device, *out;
  CHECK(cudaMalloc(&device, tensor.size() * sizeof(int)));
  CHECK(cudaMalloc(&out, grid * tiles * columns * sizeof(int)));
  CHECK(cudaMemcpy(device, tensor.data(), tensor.size() * sizeof(int), cudaMemcpyHostToDevice));
  CUtensorMap map;
  const cuuint64_t sizes[] = {width, height}, strides[] = {width * sizeof(int)};
  const cuuint32_t box[] = {columns, rows / blocks}, steps[] = {1, 1};
  if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, device, sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    return 2;
  }
  spread<<<grid, columns>>>(map, out);
  CHECK(cudaGetLastError());
  std::vector<int> found(grid * tiles * columns);
  CHECK(cudaMemcpy(found.data(), out, found.size() * sizeof(int), cudaMemcpyDeviceToHost));
  int wrong = 0;
  long long total = 0;
  for (int block = 0; block < grid; ++block) {
    for (int step = 0; step < tiles; ++step) {
      for (int column = 0; column < columns; ++column) {
        int sum = 0;
        for (int row = 0; row < rows; ++row) {
          const int x = columns * step - 4 + column, y = block / blocks * rows + row;
          if (x >= 0 && x < width && y < height) sum += (row + 1) * tensor[y * width + x];
        }
        const int at = found[(block * tiles + step) * columns + column];
        wrong += at != sum * (block % blocks + 1);
        total += at;
      }
    }
  }
  std::printf("tiles: %lld, %d of %zu wrong\n", total, wrong, found.size());
}
