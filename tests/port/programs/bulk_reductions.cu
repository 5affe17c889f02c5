// Reductions of bulk copies (PTX: cp.reduce.async.bulk, also of tiles): of floating-point numbers in
// global memory, and of integers in another block's shared memory. Numbers are exact, or round as
// IEEE 754 says, by hand; denormal ones are flushed nowhere, as on an H100 (in single precision PTX
// says otherwise). It does not say what the lesser of a number and a NaN is: here it is the number,
// as of PTX's `min`.
#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "expect.h"

__device__ uint32_t address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

enum Action { add_f32, add_f64, add_f16, add_bf16, min_f16, max_f16, min_bf16, max_bf16 };

#define REDUCE(operation)                                                                      \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation " [%0], [%1], %2;" \
               ::"l"(out), "r"(address(tile)), "r"(bytes) : "memory")

__device__ void finish() { asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); }

constexpr int most_bytes = 128;

__device__ void fill(uint8_t* tile, const uint8_t* in, uint32_t bytes) {
  if (threadIdx.x < bytes) tile[threadIdx.x] = in[threadIdx.x];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
}

__global__ void reduce(Action action, const uint8_t* in, uint8_t* out, uint32_t bytes) {
  __shared__ alignas(16) uint8_t tile[most_bytes];
  fill(tile, in, bytes);
  if (threadIdx.x != 0) return;
  switch (action) {
    case add_f32: REDUCE("add.f32"); break;
    case add_f64: REDUCE("add.f64"); break;
    case add_f16: REDUCE("add.noftz.f16"); break;
    case add_bf16: REDUCE("add.noftz.bf16"); break;
    case min_f16: REDUCE("min.f16"); break;
    case max_f16: REDUCE("max.f16"); break;
    case min_bf16: REDUCE("min.bf16"); break;
    case max_bf16: REDUCE("max.bf16"); break;
  }
  finish();
}

__global__ void reduce_tile(const __grid_constant__ CUtensorMap map, bool is_sum, const uint8_t* in, uint32_t bytes) {
  __shared__ alignas(128) uint8_t tile[most_bytes];
  fill(tile, in, bytes);
  if (threadIdx.x != 0) return;
  if (is_sum) {
    asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%0, {%1}], [%2];"
                 ::"l"(&map), "r"(0), "r"(address(tile)) : "memory");
  } else {
    asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.max.bulk_group [%0, {%1}], [%2];"
                 ::"l"(&map), "r"(0), "r"(address(tile)) : "memory");
  }
  finish();
}

// Each block of a pair changes the other's numbers, whose barrier counts the bytes.
template <int how>
__device__ void send(const void* from, uint32_t bytes, uint32_t to, uint32_t bar) {
#define SEND(operation)                                                                                           \
  asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." operation         \
               " [%0], [%1], %2, [%3];" ::"r"(to), "r"(address(from)), "r"(bytes), "r"(bar) : "memory")
  if (how == 0) SEND("add.s32");
  if (how == 1) SEND("max.u32");
  if (how == 2) SEND("add.u64");
  if (how == 3) SEND("xor.b32");
#undef SEND
}

template <int how>
__global__ void __cluster_dims__(2) exchange(uint32_t* out) {
  __shared__ alignas(16) uint32_t own[8], given[8];
  __shared__ alignas(8) uint64_t barrier;
  const uint32_t k = threadIdx.x, block = blockIdx.x % 2;
  if (k < 8) {
    own[k] = 0xfffffff0u + 3 * k;
    given[k] = 5 * k + 7 * block;
  }
  if (k == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  if (k == 0) {
    uint32_t to, bar;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 32;" ::"r"(address(&barrier)) : "memory");
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(address(own)), "r"(1 - block));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : "r"(address(&barrier)), "r"(1 - block));
    send<how>(given, 32, to, bar);
  }
  for (uint32_t over = 0; !over;) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(over) : "r"(address(&barrier)) : "memory");
  }
  if (k < 8) out[8 * block + k] = own[k];
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

template <int how, typename Combine>
static void expect_exchange(Combine combine) {
  uint32_t *out, host[16];
  GOOD(cudaMalloc(&out, sizeof host));
  exchange<how><<<2, 32>>>(out);
  GOOD(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (uint32_t block = 0; block < 2; ++block) {
    uint32_t own[8], given[8];
    for (uint32_t k = 0; k < 8; ++k) own[k] = 0xfffffff0u + 3 * k, given[k] = 5 * k + 7 * (1 - block);
    combine(own, given);
    EXPECT(std::memcmp(host + 8 * block, own, sizeof own) == 0);
  }
  GOOD(cudaFree(out));
}

// What is in memory, what is combined with it, and the result: bits.
struct Line {
  uint64_t old, given, wanted;
};

static uint8_t *in, *out;

template <typename Word>
static std::vector<Word> column(const std::vector<Line>& lines, uint64_t Line::* part) {
  std::vector<Word> words;
  for (const auto& each : lines) words.push_back(static_cast<Word>(each.*part));
  while (words.size() * sizeof(Word) % 16 != 0) words.push_back(0);
  return words;
}

template <typename Word, typename Launch>
static void expect_lines(const char* name, const std::vector<Line>& lines, unsigned blocks, Launch launch) {
  const auto old = column<Word>(lines, &Line::old), given = column<Word>(lines, &Line::given);
  const auto bytes = static_cast<uint32_t>(old.size() * sizeof(Word));
  std::vector<Word> found(old.size());
  GOOD(cudaMemcpy(out, old.data(), bytes, cudaMemcpyHostToDevice));
  GOOD(cudaMemcpy(in, given.data(), bytes, cudaMemcpyHostToDevice));
  launch(blocks, bytes);
  GOOD(cudaMemcpy(found.data(), out, bytes, cudaMemcpyDeviceToHost));
  for (size_t n = 0; n < lines.size(); ++n) {
    if (found[n] == static_cast<Word>(lines[n].wanted)) continue;
    std::printf("%s, %zu: %llx, not %llx\n", name, n, (unsigned long long)found[n], (unsigned long long)lines[n].wanted);
    ++failures;
  }
}

template <typename Word>
static void expect(Action action, const char* name, const std::vector<Line>& lines, unsigned blocks = 1) {
  expect_lines<Word>(name, lines, blocks, [=](unsigned count, uint32_t bytes) {
    reduce<<<count, most_bytes>>>(action, in, out, bytes);
  });
}

template <typename Word>
static void expect_tile(CUtensorMapDataType type, bool is_sum, const char* name, const std::vector<Line>& lines) {
  using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                              const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  Encode encode = nullptr;
  cudaDriverEntryPointQueryResult status;
  GOOD(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000, cudaEnableDefault, &status));
  expect_lines<Word>(name, lines, 1, [=](unsigned, uint32_t bytes) {
    CUtensorMap map;
    const cuuint64_t size = bytes / sizeof(Word);
    const auto box = static_cast<cuuint32_t>(size);
    const cuuint32_t step = 1;
    const cuuint64_t unused = 0;
    const auto encoded = [&](const cuuint64_t* strides) {
      return encode(&map, type, 1, out, &size, strides, &box, &step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                    CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    };
    EXPECT(encoded(nullptr) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(encoded(&unused) == CUDA_SUCCESS);
    reduce_tile<<<1, most_bytes>>>(map, is_sum, in, bytes);
  });
}

// 1 + 2, 2^24 + 1 (a tie, to even), 2^24 + 3; a denormal and a zero, the negative; a denormal and 1;
// 1.5 * 2^-126 - 2^-126; infinity - 1.
static const std::vector<Line> sums_f32 = {
    {0x3f800000, 0x40000000, 0x40400000}, {0x4b800000, 0x3f800000, 0x4b800000}, {0x4b800000, 0x40400000, 0x4b800002},
    {0x00400000, 0x00000000, 0x00400000}, {0x80400000, 0x80000000, 0x80400000}, {0x3f800000, 0x00400000, 0x3f800000},
    {0x00c00000, 0x80800000, 0x00400000}, {0x7f800000, 0xbf800000, 0x7f800000}};
// 1 + 2, 2^53 + 1 (a tie), 2^53 + 3; the least denormal twice.
static const std::vector<Line> sums_f64 = {{0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000},
                                           {0x4340000000000000, 0x3ff0000000000000, 0x4340000000000000},
                                           {0x4340000000000000, 0x4008000000000000, 0x4340000000000002},
                                           {1, 1, 2}};
// 1 + 2, 2048 + 1, 2048 + 3, the least denormal twice, 65504 + 16, 1 - 1, -0 - 0.
static const std::vector<Line> sums_f16 = {{0x3c00, 0x4000, 0x4200}, {0x6800, 0x3c00, 0x6800}, {0x6800, 0x4200, 0x6802},
                                           {0x0001, 0x0001, 0x0002}, {0x7bff, 0x4c00, 0x7c00}, {0x3c00, 0xbc00, 0x0000},
                                           {0x8000, 0x8000, 0x8000}};
// 1 + 2, 256 + 1, 256 + 3, the least denormal twice, the greatest number twice, 1 - 1.
static const std::vector<Line> sums_bf16 = {{0x3f80, 0x4000, 0x4040}, {0x4380, 0x3f80, 0x4380}, {0x4380, 0x4040, 0x4382},
                                            {0x0001, 0x0001, 0x0002}, {0x7f7f, 0x7f7f, 0x7f80}, {0x3f80, 0xbf80, 0x0000}};

// 1 and 2, -1 and -2, 0 and -0, denormals, infinities, a number and a NaN in either place; `greatest`
// gives the other of the two numbers.
static std::vector<Line> order(uint16_t one, uint16_t two, uint16_t infinity, bool greatest) {
  const uint16_t sign = 0x8000, nan = 0x7fff;
  const std::vector<std::pair<uint16_t, uint16_t>> rising = {
      {one, two},           {uint16_t(two | sign), uint16_t(one | sign)}, {sign, 0}, {1, 2},
      {uint16_t(sign | 2), uint16_t(sign | 1)}, {two, infinity}, {uint16_t(infinity | sign), one}};
  std::vector<Line> lines;
  for (const auto& [less, more] : rising) {
    lines.push_back({less, more, greatest ? more : less});
    lines.push_back({more, less, greatest ? more : less});
  }
  lines.push_back({one, nan, one});
  lines.push_back({nan, one, one});
  return lines;
}

int main() {
  GOOD(cudaMalloc(&in, most_bytes));
  GOOD(cudaMalloc(&out, most_bytes));
  expect<uint32_t>(add_f32, "add f32", sums_f32);
  expect<uint64_t>(add_f64, "add f64", sums_f64);
  expect<uint16_t>(add_f16, "add f16", sums_f16);
  expect<uint16_t>(add_bf16, "add bf16", sums_bf16);
  expect<uint16_t>(min_f16, "min f16", order(0x3c00, 0x4000, 0x7c00, false));
  expect<uint16_t>(max_f16, "max f16", order(0x3c00, 0x4000, 0x7c00, true));
  expect<uint16_t>(min_bf16, "min bf16", order(0x3f80, 0x4000, 0x7f80, false));
  expect<uint16_t>(max_bf16, "max bf16", order(0x3f80, 0x4000, 0x7f80, true));
  // Eight blocks add 3 to 1 and 0.5 to 0: sums that are exact in each order.
  expect<uint32_t>(add_f32, "eight of f32", {{0x3f800000, 0x40400000, 0x41c80000}, {0, 0x3f000000, 0x40800000}}, 8);
  expect<uint16_t>(add_f16, "eight of f16", {{0x3c00, 0x4200, 0x4e40}, {0, 0x3800, 0x4400}}, 8);
  expect_tile<uint32_t>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, true, "tile, add f32", sums_f32);
  expect_tile<uint64_t>(CU_TENSOR_MAP_DATA_TYPE_FLOAT64, true, "tile, add f64", sums_f64);
  expect_tile<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, true, "tile, add f16", sums_f16);
  expect_tile<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, true, "tile, add bf16", sums_bf16);
  expect_tile<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, false, "tile, max f16", order(0x3c00, 0x4000, 0x7c00, true));
  expect_tile<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, false, "tile, max bf16", order(0x3f80, 0x4000, 0x7f80, true));
  const auto each = [](auto change) {
    return [change](uint32_t* own, const uint32_t* given) {
      for (int k = 0; k < 8; ++k) own[k] = change(own[k], given[k]);
    };
  };
  expect_exchange<0>(each([](uint32_t a, uint32_t b) { return a + b; }));
  expect_exchange<1>(each([](uint32_t a, uint32_t b) { return a > b ? a : b; }));
  expect_exchange<3>(each([](uint32_t a, uint32_t b) { return a ^ b; }));
  expect_exchange<2>([](uint32_t* own, const uint32_t* given) {
    for (int k = 0; k < 8; k += 2) {
      uint64_t a, b;
      std::memcpy(&a, own + k, 8);
      std::memcpy(&b, given + k, 8);
      a += b;
      std::memcpy(own + k, &a, 8);
    }
  });
  return failures != 0;
}
