// Lanes of a warp that exchange at one place in groups, each with the mask of its own (CUDA C++
// Programming Guide, "Warp Vote Functions", "Warp Reduce Functions"; cooperative groups).
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <functional>
#include <vector>

#include "expect.h"

namespace cg = cooperative_groups;

constexpr int threads = 96, results = 10;

__host__ __device__ int key(int t) { return (t * 7 + t / 5) % 3; }
__host__ __device__ bool flag(int t) { return t % 5 == 1; }

__device__ void exchange(unsigned mask, int t, unsigned* out) {
  out[0] = __ballot_sync(mask, flag(t));
  out[1] = __any_sync(mask, flag(t));
  out[2] = __all_sync(mask, !flag(t));
  out[3] = __shfl_sync(mask, t * 10, __ffs(mask) - 1);
  out[4] = __match_any_sync(mask, t / 4);
#if __CUDA_ARCH__ >= 800
  out[5] = __reduce_add_sync(mask, t);
  out[6] = __reduce_max_sync(mask, t % 7);
#endif
  out[7] = __shfl_xor_sync(mask, t, 0);
}

__device__ __noinline__ unsigned called(unsigned mask, int t) {
  return __ballot_sync(mask, t % 3 == 0) + __any_sync(mask, t % 16 == 3);
}

__global__ void matched(unsigned* out) {
  const int t = threadIdx.x;
  unsigned* own = out + t * results;
  exchange(__match_any_sync(~0U, key(t)), t, own);
  own[8] = __ballot_sync(~0U, t % 2);  // all of the warp again
}

__global__ void halves(unsigned* out) {
  const int t = threadIdx.x;
  exchange(t % 32 < 12 ? 0xFFFU : 0xFFFFF000U, t, out + t * results);
}

__global__ void in_a_branch(unsigned* out) {
  const int t = threadIdx.x;
  unsigned* own = out + t * results;
  if (t % 4 == 0) {
    own[9] = 1;
  } else {
    const unsigned there = 0xEEEEEEEEU;
    exchange(__match_any_sync(there, key(t)), t, own);
    own[8] = __ballot_sync(there, t % 2);
  }
  __syncthreads();
  own[9] += __ballot_sync(~0U, flag(t));
}

__global__ void in_a_loop(unsigned* out) {
  const int t = threadIdx.x;
  unsigned* own = out + t * results;
  unsigned sum = 0;
  for (int k = 1; k < 5; ++k) {
    const unsigned group = __match_any_sync(~0U, t % k);
    sum = sum * 3 + __ballot_sync(group, flag(t)) + 2 * __any_sync(group, t % 32 == k);
    __syncwarp();
    sum += __ballot_sync(~0U, t % 7 == k);
  }
  own[0] = sum;
  own[1] = called(__match_any_sync(~0U, key(t)), t);
}

__global__ void one_mask(unsigned* out, unsigned mask) {
  const int t = threadIdx.x;
  if (mask >> t % 32 & 1) exchange(mask, t, out + t * results);
}

__global__ void tiles(unsigned* out) {
  const int t = threadIdx.x;
  unsigned* own = out + t * results;
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  own[0] = tile.any(flag(t)) + 2 * tile.all(t % 16 < 8);
  own[1] = tile.ballot(flag(t));
  own[2] = cg::reduce(tile, t, cg::plus<int>());
  own[3] = tile.match_any(t / 2);
  own[4] = tile.shfl_down(t, 3);
  const auto labeled = cg::labeled_partition(cg::coalesced_threads(), key(t));
  own[5] = labeled.size();
  own[6] = labeled.thread_rank();
  own[7] = cg::reduce(labeled, t, cg::plus<int>());
  own[8] = labeled.ballot(flag(t));
  own[9] = labeled.any(t % 32 == 9);
}

using Mask = std::function<unsigned(int)>;

unsigned votes(unsigned mask, int t, const std::function<bool(int)>& holds) {
  unsigned found = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (mask >> lane & 1 && holds(t / 32 * 32 + lane)) found |= 1U << lane;
  }
  return found;
}

unsigned of_key(int t) {
  return votes(~0U, t, [t](int other) { return key(other) == key(t); });
}

unsigned bit(unsigned from, int lane) { return from >> lane & 1; }

// What exchange() writes.
std::vector<unsigned> exchanged(unsigned mask, int t, bool reduces) {
  const int warp = t / 32 * 32;
  const unsigned flags = votes(mask, t, flag);
  unsigned sum = 0, most = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (!bit(mask, lane)) continue;
    sum += warp + lane;
    most = std::max(most, unsigned((warp + lane) % 7));
  }
  const unsigned first = (warp + __builtin_ctz(mask)) * 10;
  const unsigned same = votes(mask, t, [t](int other) { return other / 4 == t / 4; });
  return {flags, flags != 0,          flags == 0,           first,
          same,  reduces ? sum : ~0U, reduces ? most : ~0U, unsigned(t)};
}

struct Memory {
  unsigned* words;
  Memory() {
    GOOD(cudaMallocManaged(&words, threads * results * sizeof *words));
    clear();
  }
  void clear() { std::fill(words, words + threads * results, ~0U); }
  unsigned at(int t, int number) const { return words[t * results + number]; }
};

void check(const Memory& memory, const char* name, int t, int first,
           const std::vector<unsigned>& expected) {
  for (unsigned n = 0; n < expected.size(); ++n) {
    const unsigned found = memory.at(t, first + n);
    if (found == expected[n]) continue;
    std::printf("%s: thread %d, result %d: %x, not %x\n", name, t, first + n, found, expected[n]);
    ++failures;
  }
}

unsigned looped(int t) {
  unsigned sum = 0;
  for (int k = 1; k < 5; ++k) {
    const unsigned group = votes(~0U, t, [t, k](int o) { return o % k == t % k; });
    sum = sum * 3 + votes(group, t, flag) + 2 * bit(group, k);
    sum += votes(~0U, t, [k](int o) { return o % 7 == k; });
  }
  return sum;
}

std::vector<unsigned> tiled(int t) {
  const unsigned tile = 0xFFU << t % 32 / 8 * 8, group = of_key(t);
  const unsigned flags = votes(tile, t, flag);
  const int start = t / 8 * 8;
  unsigned sum = 0;
  for (int lane = 0; lane < 32; ++lane) sum += bit(group, lane) * (t / 32 * 32 + lane);
  const unsigned rank = __builtin_popcount(group & ((1U << t % 32) - 1));
  unsigned packed = 0, count = 0;  // a group's ballot is by rank
  for (int lane = 0; lane < 32; ++lane) {
    if (bit(group, lane)) packed |= unsigned(flag(t / 32 * 32 + lane)) << count++;
  }
  return {(flags != 0) + 2U * (t % 16 < 8),
          flags >> t % 32 / 8 * 8,
          unsigned(8 * start + 28),
          votes(tile, t, [t](int o) { return o / 2 == t / 2; }) >> t % 32 / 8 * 8,
          unsigned(t % 8 < 5 ? t + 3 : t),
          unsigned(__builtin_popcount(group)),
          rank,
          sum,
          packed,
          bit(group, 9)};
}

int main() {
  cudaDeviceProp properties;
  GOOD(cudaGetDeviceProperties(&properties, 0));
  cudaFuncAttributes attributes;
  GOOD(cudaFuncGetAttributes(&attributes, matched));
  const bool reduces = attributes.binaryVersion >= 80;
  Memory memory;
  matched<<<1, threads>>>(memory.words);
  GOOD(cudaDeviceSynchronize());
  for (int t = 0; t < threads; ++t) {
    check(memory, "matched", t, 0, exchanged(of_key(t), t, reduces));
    check(memory, "matched", t, 8, {0xAAAAAAAA});
  }
  memory.clear();
  halves<<<1, threads>>>(memory.words);
  GOOD(cudaDeviceSynchronize());
  for (int t = 0; t < threads; ++t) {
    check(memory, "halves", t, 0, exchanged(t % 32 < 12 ? 0xFFF : 0xFFFFF000, t, reduces));
  }
  memory.clear();
  in_a_branch<<<1, threads>>>(memory.words);
  GOOD(cudaDeviceSynchronize());
  for (int t = 0; t < threads; ++t) {
    const unsigned flags = votes(~0U, t, flag);
    check(memory, "in_a_branch", t, 9, {(t % 4 == 0 ? 1 : ~0U) + flags});
    if (t % 4 == 0) continue;
    check(memory, "in_a_branch", t, 0, exchanged(of_key(t) & 0xEEEEEEEE, t, reduces));
    check(memory, "in_a_branch", t, 8, {0xAAAAAAAA});
  }
  memory.clear();
  in_a_loop<<<1, threads>>>(memory.words);
  GOOD(cudaDeviceSynchronize());
  for (int t = 0; t < threads; ++t) {
    const unsigned group = of_key(t);
    const unsigned third = votes(group, t, [](int o) { return o % 3 == 0; });
    const bool any = votes(group, t, [](int o) { return o % 16 == 3; }) != 0;
    check(memory, "in_a_loop", t, 0, {looped(t), third + any});
  }
  memory.clear();
  one_mask<<<1, threads>>>(memory.words, 0x0FF0FF0F);
  GOOD(cudaDeviceSynchronize());
  for (int t = 0; t < threads; ++t) {
    if (bit(0x0FF0FF0F, t % 32)) {
      check(memory, "one_mask", t, 0, exchanged(0x0FF0FF0F, t, reduces));
    }
  }
  memory.clear();
  tiles<<<1, threads>>>(memory.words);
  GOOD(cudaDeviceSynchronize());
  for (int t = 0; t < threads; ++t) check(memory, "tiles", t, 0, tiled(t));
  return failures;
}
