#ifndef CASS_GROUP_TILES
#define CASS_GROUP_TILES
#if defined(__HIPCC__)
#include <hip/hip_cooperative_groups.h>
#include <type_traits>
namespace cass {
// A tile's size as a constant: HIP's static functions are no constexpr.
template <unsigned int Size, typename Parent>
std::integral_constant<unsigned int, Size> size_of_tile(const cooperative_groups::thread_block_tile<Size, Parent>*);
template <typename Group> __host__ __device__ constexpr unsigned int group_size() {
    return decltype(size_of_tile(static_cast<typename std::remove_reference<Group>::type*>(nullptr)))::value;
}
// What tiles of more than a warp exchange through: here one place for each type.
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {};
// A tile of several warps that is the whole block.
template <unsigned int Size> class block_tile {
public:
    __device__ block_tile() {
        if (blockDim.x * blockDim.y * blockDim.z != Size) __builtin_trap();  // parts of a block have no barrier
    }
    __device__ static constexpr unsigned int size() { return Size; }
    __device__ static constexpr unsigned int num_threads() { return Size; }
    __device__ static unsigned int thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    __device__ static constexpr unsigned int meta_group_size() { return 1; }
    __device__ static constexpr unsigned int meta_group_rank() { return 0; }
    __device__ static void sync() { __syncthreads(); }
    __device__ static int any(int predicate) { return __syncthreads_or(predicate); }
    __device__ static int all(int predicate) { return __syncthreads_and(predicate); }
    template <typename T> __device__ static T shfl(T value, unsigned int rank) {
        __shared__ unsigned long long place[(sizeof(T) + 7) / 8];
        __syncthreads();
        if (thread_rank() == rank) __builtin_memcpy(place, &value, sizeof(T));
        __syncthreads();
        __builtin_memcpy(&value, place, sizeof(T));
        return value;
    }
};
template <unsigned int Size> __device__ inline int group_any(const block_tile<Size>& tile, int predicate) {
    return tile.any(predicate);
}
template <unsigned int Size> __device__ inline int group_all(const block_tile<Size>& tile, int predicate) {
    return tile.all(predicate);
}
#ifdef __HIP_PLATFORM_NVIDIA__
template <unsigned int Size, typename Group> __device__ inline auto tile_of(const Group& group) {
    return cooperative_groups::tiled_partition<Size>(group);
}
#else
template <unsigned int Size> __device__ inline auto tile_of(const cooperative_groups::thread_block& block) {
    return cooperative_groups::tiled_partition<Size>(block);
}
// A tile of a tile is one of the block's, counted in its parent; HIP has none.
template <unsigned int Size> class tile_of_tile : public cooperative_groups::thread_block_tile<Size, void> {
public:
    __device__ tile_of_tile(unsigned int rank, unsigned int tiles)
        : cooperative_groups::thread_block_tile<Size, void>(
              cooperative_groups::tiled_partition<Size>(cooperative_groups::this_thread_block())) {
        this->coalesced_info.tiled_info.meta_group_rank = rank;
        this->coalesced_info.tiled_info.meta_group_size = tiles;
    }
};
template <unsigned int Size, unsigned int Whole, typename Parent>
__device__ inline cooperative_groups::thread_block_tile<Size, void> tile_of(
    const cooperative_groups::thread_block_tile<Whole, Parent>& tile) {
    return tile_of_tile<Size>(tile.thread_rank() / Size, Whole / Size);
}
#endif
template <unsigned int Size, typename Group> __device__ inline auto tiled_partition(const Group& group) {
    if constexpr (Size <= 32) return tile_of<Size>(group);
    else return block_tile<Size>();
}
}  // namespace cass
#endif
#endif
