#ifndef CASS_CUB_WARPS
#define CASS_CUB_WARPS
#if defined(__HIPCC__)
#include <hipcub/hipcub.hpp>
// CUB's collectives of a warp, for CUDA's warps of 32 lanes: hipCUB's have the lanes of a wavefront.
namespace cass {
#ifdef __HIP_PLATFORM_NVIDIA__
using namespace hipcub;
#else
template <typename T, int Lanes = 32, int Arch = 0> using WarpReduce = hipcub::WarpReduce<T, Lanes>;
template <typename T, int Lanes = 32, int Arch = 0> using WarpScan = hipcub::WarpScan<T, Lanes>;
template <typename T, int Items, int Lanes = 32, int Arch = 0,
          hipcub::WarpExchangeAlgorithm Algorithm = hipcub::WARP_EXCHANGE_SMEM>
using WarpExchange = hipcub::WarpExchange<T, Items, Lanes, HIPCUB_ARCH, Algorithm>;
template <typename T, int Items, hipcub::WarpLoadAlgorithm Algorithm = hipcub::WARP_LOAD_DIRECT, int Lanes = 32,
          int Arch = 0>
using WarpLoad = hipcub::WarpLoad<T, Items, Algorithm, Lanes>;
template <typename T, int Items, hipcub::WarpStoreAlgorithm Algorithm = hipcub::WARP_STORE_DIRECT, int Lanes = 32,
          int Arch = 0>
using WarpStore = hipcub::WarpStore<T, Items, Algorithm, Lanes>;
template <typename Key, int Items, int Lanes = 32, typename Value = hipcub::NullType, int Arch = 0>
using WarpMergeSort = hipcub::WarpMergeSort<Key, Items, Lanes, Value>;

// A block whose warps have 32 lanes: hipCUB's go by wavefronts, and must be a multiple of them for some.
template <typename T, int X, int Items, bool Slices = false, int Y = 1, int Z = 1, int Arch = 0>
class BlockExchange : public hipcub::BlockExchange<T, X, Items, Slices, Y, Z> {
    using Block = hipcub::BlockExchange<T, X, Items, Slices, Y, Z>;
    using Warp = hipcub::WarpExchange<T, Items, 32>;
    typename Warp::TempStorage& warp;

public:
    union TempStorage {
        typename Block::TempStorage block;
        typename Warp::TempStorage warps[(X * Y * Z + 31) / 32];
    };
    __device__ explicit BlockExchange(TempStorage& storage)
        : Block(storage.block),
          warp(storage.warps[(threadIdx.x + X * (threadIdx.y + Y * threadIdx.z)) / 32]) {}
    __device__ BlockExchange() : BlockExchange(storage_of_its_own()) {}
    template <typename Output>
    __device__ void BlockedToWarpStriped(T (&from)[Items], Output (&to)[Items]) { Warp(warp).BlockedToStriped(from, to); }
    template <typename Output>
    __device__ void WarpStripedToBlocked(T (&from)[Items], Output (&to)[Items]) { Warp(warp).StripedToBlocked(from, to); }
    __device__ void BlockedToWarpStriped(T (&items)[Items]) { BlockedToWarpStriped(items, items); }
    __device__ void WarpStripedToBlocked(T (&items)[Items]) { WarpStripedToBlocked(items, items); }

private:
    __device__ static TempStorage& storage_of_its_own() {
        __shared__ TempStorage storage;
        return storage;
    }
};
constexpr hipcub::BlockLoadAlgorithm in_warps(hipcub::BlockLoadAlgorithm algorithm, int threads) {
    return threads % 64 != 0 && (algorithm == hipcub::BLOCK_LOAD_WARP_TRANSPOSE ||
                                 algorithm == hipcub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED)
               ? hipcub::BLOCK_LOAD_TRANSPOSE : algorithm;
}
constexpr hipcub::BlockStoreAlgorithm in_warps(hipcub::BlockStoreAlgorithm algorithm, int threads) {
    return threads % 64 != 0 && (algorithm == hipcub::BLOCK_STORE_WARP_TRANSPOSE ||
                                 algorithm == hipcub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED)
               ? hipcub::BLOCK_STORE_TRANSPOSE : algorithm;
}
template <typename T, int X, int Items, hipcub::BlockLoadAlgorithm Algorithm = hipcub::BLOCK_LOAD_DIRECT, int Y = 1,
          int Z = 1, int Arch = 0>
using BlockLoad = hipcub::BlockLoad<T, X, Items, in_warps(Algorithm, X * Y * Z), Y, Z>;
template <typename T, int X, int Items, hipcub::BlockStoreAlgorithm Algorithm = hipcub::BLOCK_STORE_DIRECT, int Y = 1,
          int Z = 1, int Arch = 0>
using BlockStore = hipcub::BlockStore<T, X, Items, in_warps(Algorithm, X * Y * Z), Y, Z>;

__device__ inline unsigned int LaneId() { return __lane_id() & 31u; }
__device__ inline unsigned int WarpId() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32u;
}
__device__ inline unsigned int LaneMaskLt() { return (1u << LaneId()) - 1u; }
__device__ inline unsigned int LaneMaskLe() { return (2u << LaneId()) - 1u; }
__device__ inline unsigned int LaneMaskGt() { return ~LaneMaskLe(); }
__device__ inline unsigned int LaneMaskGe() { return ~LaneMaskLt(); }
template <int Lanes, int Arch = 0> __host__ __device__ inline unsigned int WarpMask(unsigned int warp) {
    const unsigned int all = ~0u >> (32 - Lanes);
    return (Lanes & (Lanes - 1)) == 0 ? all << (warp * Lanes) : all;
}
__device__ inline void WARP_SYNC(unsigned int) { __builtin_amdgcn_wave_barrier(); }
__device__ inline unsigned int WARP_BALLOT(int predicate, unsigned int mask) {
    return static_cast<unsigned int>(__ballot64(predicate) >> (__lane_id() & 32u)) & mask;
}
__device__ inline int WARP_ANY(int predicate, unsigned int mask) { return WARP_BALLOT(predicate, mask) != 0; }
__device__ inline int WARP_ALL(int predicate, unsigned int mask) { return WARP_BALLOT(!predicate, mask) == 0; }

// The value of another lane, or the lane's own where that is not of the segment that CUB names.
template <typename T> __device__ inline T value_of_lane(T value, int lane, bool there) {
    const int from = there ? lane : static_cast<int>(LaneId());
    int words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (int& word : words) word = __shfl(word, from, 32);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
}
template <int Lanes, typename T> __device__ inline T ShuffleUp(T value, int distance, int first, unsigned int) {
    const int lane = LaneId(), start = lane & (32 - Lanes);
    return value_of_lane(value, lane - distance, lane - distance >= (start | (first & (Lanes - 1))));
}
template <int Lanes, typename T> __device__ inline T ShuffleDown(T value, int distance, int last, unsigned int) {
    const int lane = LaneId(), start = lane & (32 - Lanes);
    return value_of_lane(value, lane + distance, lane + distance <= (start | (last & (Lanes - 1))));
}
template <int Lanes, typename T> __device__ inline T ShuffleIndex(T value, int source, unsigned int) {
    return value_of_lane(value, static_cast<int>(LaneId() & (32 - Lanes)) | (source & (Lanes - 1)), true);
}
template <typename T, int Items, typename Input, typename... Rest>
__device__ inline void LoadDirectWarpStriped(int thread, Input from, T (&items)[Items], Rest... rest) {
    ::rocprim::block_load_direct_warp_striped<32>(thread, from, items, rest...);
}
template <typename T, int Items, typename Output, typename... Rest>
__device__ inline void StoreDirectWarpStriped(int thread, Output to, T (&items)[Items], Rest... rest) {
    ::rocprim::block_store_direct_warp_striped<32>(thread, to, items, rest...);
}
#endif
}  // namespace cass
#endif
#endif
