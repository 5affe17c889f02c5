#pragma once
#include <array>
#include <cstdio>
#include <cstdlib>
#define gpuErrchk(ans)                    \
  {                                       \
    gpuAssert((ans), __FILE__, __LINE__); \
  }
inline void gpuAssert(cudaError_t code, const char* file, int line, bool abort = true) {
  if (code != cudaSuccess) {
    std::fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
    if (abort) std::exit(code);
  }
}
namespace grid {
constexpr std::array<int, 2> tile{16, 4};
template <class F>
__global__ void __launch_bounds__(64) run(int width, int height, F what) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) what(x, y);
}
template <class F>
void for_each(int width, int height, F&& what) {
  const dim3 block(tile[0], tile[1]),
      blocks((width + tile[0] - 1) / tile[0], (height + tile[1] - 1) / tile[1]);
  run<<<blocks, block>>>(width, height, what);
  gpuErrchk(cudaPeekAtLastError());
  gpuErrchk(cudaDeviceSynchronize());
}
}  // namespace grid
