// Ways of CUB's blocks that go by warps: of a block that is no multiple of 64, and exchanges of its warps.
#include <cub/cub.cuh>
#include <cstdio>
__global__ void k(int* d) {
  using L = cub::BlockLoad<int, 96, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>; using S = cub::BlockStore<int, 96, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using R = cub::BlockRadixSort<int, 96, 4>;
  __shared__ union { typename L::TempStorage l; typename S::TempStorage s; typename R::TempStorage r; } u;
  int v[4]; L(u.l).Load(d, v); __syncthreads(); R(u.r).SortDescending(v); __syncthreads(); S(u.s).Store(d, v);
}
__global__ void x(int* d) {
  using E = cub::BlockExchange<int, 64, 2>; __shared__ typename E::TempStorage s; int v[2] = {(int)threadIdx.x * 2, (int)threadIdx.x * 2 + 1};
  E(s).BlockedToWarpStriped(v); d[threadIdx.x] = v[0]; d[64 + threadIdx.x] = v[1];
}
int main() { int h[384], *d; for (int i = 0; i < 384; ++i) h[i] = (i * 37) % 384; cudaMalloc(&d, sizeof h); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice); k<<<1, 96>>>(d); cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost); printf("%d %d %d\n", h[0], h[1], h[383]); x<<<1, 64>>>(d); cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost); printf("%d %d %d %d\n", h[1], h[33], h[65], h[127]); }
