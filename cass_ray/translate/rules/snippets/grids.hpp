#ifndef CASS_GRIDS
#define CASS_GRIDS
#if defined(__HIPCC__)
#include <hip/hip_cooperative_groups.h>
// Members of CUDA's grid_group. The group says no more than the built-in variables do.
namespace cass {
using cooperative_groups::grid_group;
__device__ inline dim3 grid_dim_blocks(const grid_group&) {
    return dim3(gridDim.x, gridDim.y, gridDim.z);
}
__device__ inline dim3 grid_group_dim(const grid_group& grid) { return grid_dim_blocks(grid); }
__device__ inline dim3 grid_block_index(const grid_group&) {
    return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
}
__device__ inline unsigned long long grid_block_rank(const grid_group&) {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
}
__device__ inline unsigned long long grid_num_blocks(const grid_group&) {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
}
__device__ inline unsigned long long grid_num_threads(const grid_group& grid) {
    return grid_num_blocks(grid) * (blockDim.x * blockDim.y * blockDim.z);
}
// HIP's members of thread_block are not constant.
using cooperative_groups::thread_block;
__device__ inline dim3 block_group_dim(const thread_block&) {
    return dim3(blockDim.x, blockDim.y, blockDim.z);
}
__device__ inline dim3 block_dim_threads(const thread_block& block) { return block_group_dim(block); }
}  // namespace cass
#endif
#endif
