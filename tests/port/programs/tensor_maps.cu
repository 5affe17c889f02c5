// Copies by tensor maps (PTX: cp.async.bulk.tensor), tiled: what arrives in shared and in global
// memory is compared with what the CUDA driver API's and the PTX ISA's texts say, and with what an
// H100 or H200 does where they are silent: rows of swizzled tiles, what is not a number, TF32,
// sums. (They fault where the first coordinate is no multiple of 16 bytes, and where a store has a
// negative one; lifted code copies, and such are not tried.)

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "expect.h"

constexpr uint32_t shared_bytes = 16384, threads = 64;
constexpr uint8_t untouched = 0xcd;

struct Case {
  const char *name;
  CUtensorMapDataType type;
  uint32_t size, rank;
  uint64_t dims[5], strides[4];
  uint32_t box[5], steps[5];
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;
  int32_t at[5];
};

#define TENSOR "cp.async.bulk.tensor."
#define LOAD "d.shared::cluster.global.mbarrier::complete_tx::bytes "
#define STORE "d.global.shared::cta.bulk_group "

enum Action { load, store, add, minimum, maximum, bit_and, bit_or, bit_xor };

template <int rank>
__device__ void copy_in(uint32_t to, const CUtensorMap *map, const int32_t *c, uint32_t bar) {
  if constexpr (rank == 1)
    asm volatile(TENSOR "1" LOAD "[%0], [%1, {%2}], [%3];" ::"r"(to), "l"(map), "r"(c[0]), "r"(bar)
                 : "memory");
  if constexpr (rank == 2)
    asm volatile(TENSOR "2" LOAD "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(c[0]),
                 "r"(c[1]), "r"(bar)
                 : "memory");
  if constexpr (rank == 3)
    asm volatile(TENSOR "3" LOAD "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to), "l"(map), "r"(c[0]),
                 "r"(c[1]), "r"(c[2]), "r"(bar)
                 : "memory");
  if constexpr (rank == 4)
    asm volatile(TENSOR "4" LOAD "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to), "l"(map),
                 "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(bar)
                 : "memory");
  if constexpr (rank == 5)
    asm volatile(TENSOR "5" LOAD "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(to), "l"(map),
                 "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(bar)
                 : "memory");
}

#define OUT(INSTRUCTION)                                                                         \
  do {                                                                                           \
    if constexpr (rank == 1)                                                                     \
      asm volatile(INSTRUCTION(1) "[%1, {%2}], [%0];" ::"r"(from), "l"(map), "r"(c[0])           \
                   : "memory");                                                                  \
    if constexpr (rank == 2)                                                                     \
      asm volatile(INSTRUCTION(2) "[%1, {%2, %3}], [%0];" ::"r"(from), "l"(map), "r"(c[0]),      \
                   "r"(c[1])                                                                     \
                   : "memory");                                                                  \
    if constexpr (rank == 3)                                                                     \
      asm volatile(INSTRUCTION(3) "[%1, {%2, %3, %4}], [%0];" ::"r"(from), "l"(map), "r"(c[0]),  \
                   "r"(c[1]), "r"(c[2])                                                          \
                   : "memory");                                                                  \
    if constexpr (rank == 4)                                                                     \
      asm volatile(INSTRUCTION(4) "[%1, {%2, %3, %4, %5}], [%0];" ::"r"(from), "l"(map),         \
                   "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])                                    \
                   : "memory");                                                                  \
    if constexpr (rank == 5)                                                                     \
      asm volatile(INSTRUCTION(5) "[%1, {%2, %3, %4, %5, %6}], [%0];" ::"r"(from), "l"(map),     \
                   "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])                         \
                   : "memory");                                                                  \
  } while (0)
#define STORED(RANK) "cp.async.bulk.tensor." #RANK STORE
#define REDUCED(HOW, RANK) "cp.reduce.async.bulk.tensor." #RANK "d.global.shared::cta." HOW ".bulk_group "
#define ADDED(RANK) REDUCED("add", RANK)
#define LEAST(RANK) REDUCED("min", RANK)
#define MOST(RANK) REDUCED("max", RANK)
#define BOTH(RANK) REDUCED("and", RANK)
#define EITHER(RANK) REDUCED("or", RANK)
#define DIFFERENT(RANK) REDUCED("xor", RANK)

template <int rank>
__device__ void copy_out(Action how, uint32_t from, const CUtensorMap *map, const int32_t *c) {
  switch (how) {
    case store: OUT(STORED); break;
    case add: OUT(ADDED); break;
    case minimum: OUT(LEAST); break;
    case maximum: OUT(MOST); break;
    case bit_and: OUT(BOTH); break;
    case bit_or: OUT(EITHER); break;
    default: OUT(DIFFERENT); break;
  }
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

struct Coordinates {
  int32_t at[5];
};

template <int rank>
__device__ void copy(const CUtensorMap *map, const Coordinates &where, uint32_t bytes, Action how,
                     uint8_t *memory) {
  extern __shared__ __align__(1024) uint8_t tile[];
  __shared__ __align__(8) uint64_t barrier;
  for (uint32_t n = threadIdx.x; n < shared_bytes; n += threads)
    tile[n] = how == load ? untouched : memory[n];
  const uint32_t bar = (uint32_t)__cvta_generic_to_shared(&barrier);
  const uint32_t place = (uint32_t)__cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    if (how == load) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
                   : "memory");
      copy_in<rank>(place, map, where.at, bar);
    } else {
      copy_out<rank>(how, place, map, where.at);
    }
  }
  if (how != load) return;
  uint32_t over = 0;
  while (!over)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(over)
        : "r"(bar)
        : "memory");
  for (uint32_t n = threadIdx.x; n < shared_bytes; n += threads) memory[n] = tile[n];
}

// The map is the first parameter, or follows others.
template <int rank>
__global__ void loads(const __grid_constant__ CUtensorMap map, Coordinates where, uint32_t bytes,
                      uint8_t *memory) {
  copy<rank>(&map, where, bytes, load, memory);
}
template <int rank>
__global__ void stores(uint8_t *memory, Action how, const __grid_constant__ CUtensorMap map,
                       Coordinates where) {
  copy<rank>(&map, where, 0, how, memory);
}

template <int rank>
void launch_one(const CUtensorMap &map, Action how, const Coordinates &where, uint32_t bytes,
                uint8_t *memory) {
  if (how == load)
    loads<rank><<<1, threads, shared_bytes>>>(map, where, bytes, memory);
  else
    stores<rank><<<1, threads, shared_bytes>>>(memory, how, map, where);
}

#define U8 CU_TENSOR_MAP_DATA_TYPE_UINT8, 1
#define U16 CU_TENSOR_MAP_DATA_TYPE_UINT16, 2
#define U32 CU_TENSOR_MAP_DATA_TYPE_UINT32, 4
#define S32 CU_TENSOR_MAP_DATA_TYPE_INT32, 4
#define U64 CU_TENSOR_MAP_DATA_TYPE_UINT64, 8
#define S64 CU_TENSOR_MAP_DATA_TYPE_INT64, 8
#define F16 CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2
#define BF16 CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2
#define F32 CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4
#define F32_FTZ CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4
#define TF32 CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4
#define TF32_FTZ CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 4
#define F64 CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8
#define PLAIN CU_TENSOR_MAP_SWIZZLE_NONE
#define SW32 CU_TENSOR_MAP_SWIZZLE_32B
#define SW64 CU_TENSOR_MAP_SWIZZLE_64B
#define SW128 CU_TENSOR_MAP_SWIZZLE_128B
#define ZEROS CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
#define NANS CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA

const Case cases[] = {
    {"1d", U8, 1, {1000}, {}, {64}, {1}, PLAIN, ZEROS, {48}},
    {"1d, end", U32, 1, {100}, {}, {32}, {1}, PLAIN, ZEROS, {80}},
    {"1d, before", S32, 1, {100}, {}, {32}, {1}, PLAIN, ZEROS, {-4}},
    {"1d, outside", U64, 1, {100}, {}, {32}, {1}, PLAIN, ZEROS, {200}},
    {"2d", U16, 2, {64, 40}, {128}, {32, 16}, {1, 1}, PLAIN, ZEROS, {8, 5}},
    {"2d, wide rows", U8, 2, {100, 20}, {112}, {48, 9}, {1, 1}, PLAIN, ZEROS, {16, 2}},
    {"2d, corners", F16, 2, {64, 40}, {144}, {32, 16}, {1, 1}, PLAIN, ZEROS, {-8, -3}},
    {"2d, rows before", F16, 2, {64, 40}, {144}, {32, 16}, {1, 1}, PLAIN, ZEROS, {8, -3}},
    {"2d, columns before", F16, 2, {64, 40}, {144}, {32, 16}, {1, 1}, PLAIN, ZEROS, {-8, 3}},
    {"2d, corners, nan", F16, 2, {64, 40}, {144}, {32, 16}, {1, 1}, PLAIN, NANS, {48, 30}},
    {"2d, nan bf16", BF16, 2, {64, 40}, {128}, {32, 16}, {1, 1}, PLAIN, NANS, {-8, 30}},
    {"2d, nan f32", F32, 2, {32, 40}, {128}, {16, 16}, {1, 1}, PLAIN, NANS, {20, -4}},
    {"2d, nan f64", F64, 2, {16, 40}, {128}, {8, 16}, {1, 1}, PLAIN, NANS, {12, -4}},
    {"2d, nan f32 ftz", F32_FTZ, 2, {32, 40}, {128}, {16, 16}, {1, 1}, PLAIN, NANS, {20, -4}},
    {"2d, nan tf32", TF32, 2, {32, 40}, {128}, {16, 16}, {1, 1}, PLAIN, NANS, {20, -4}},
    {"2d, tf32 ftz", TF32_FTZ, 2, {32, 40}, {128}, {16, 16}, {1, 1}, PLAIN, ZEROS, {4, 3}},
    {"2d, 32", U16, 2, {64, 40}, {128}, {16, 24}, {1, 1}, SW32, ZEROS, {8, 5}},
    {"2d, 64", U16, 2, {64, 40}, {128}, {32, 24}, {1, 1}, SW64, ZEROS, {8, 5}},
    {"2d, 128", U16, 2, {128, 40}, {256}, {64, 24}, {1, 1}, SW128, ZEROS, {8, 5}},
    {"2d, 128 of u8", U8, 2, {256, 40}, {256}, {128, 30}, {1, 1}, SW128, ZEROS, {144, 15}},
    {"2d, 128 of f32", F32, 2, {64, 40}, {256}, {32, 17}, {1, 1}, SW128, ZEROS, {-4, 30}},
    {"2d, 128, short rows", U16, 2, {128, 40}, {256}, {32, 24}, {1, 1}, SW128, ZEROS, {8, 5}},
    {"2d, 64, short rows", U16, 2, {128, 40}, {256}, {16, 24}, {1, 1}, SW64, ZEROS, {8, 5}},
    {"2d, 128, 48 bytes", U16, 2, {128, 40}, {256}, {24, 24}, {1, 1}, SW128, ZEROS, {8, 5}},
    {"2d, steps", U16, 2, {128, 60}, {256}, {32, 20}, {2, 3}, PLAIN, ZEROS, {8, 7}},
    {"2d, steps of bytes", U8, 2, {256, 60}, {256}, {96, 20}, {3, 7}, PLAIN, ZEROS, {208, 7}},
    {"2d, steps, uneven", U8, 2, {256, 60}, {256}, {96, 20}, {3, 7}, PLAIN, ZEROS, {208, -7}},
    {"2d, one step", U32, 2, {64, 60}, {256}, {32, 20}, {1, 4}, SW128, ZEROS, {8, 7}},
    {"3d", F32, 3, {20, 9, 11}, {96, 960}, {8, 4, 6}, {1, 1, 1}, PLAIN, ZEROS, {4, 3, 4}},
    {"3d, 128, over", F32, 3, {64, 9, 11}, {256, 2560}, {32, 4, 6}, {1, 1, 1}, SW128, ZEROS,
     {40, 7, -2}},
    {"4d", U16, 4, {24, 5, 6, 7}, {48, 256, 1536}, {8, 3, 4, 5}, {1, 1, 1, 1}, PLAIN, ZEROS,
     {8, 1, 2, 3}},
    {"5d", U16, 5, {24, 5, 4, 3, 3}, {48, 256, 1024, 3072}, {16, 3, 2, 2, 2}, {1, 1, 1, 1, 1}, SW32,
     ZEROS, {16, 3, 3, 1, 2}},
};

constexpr uint32_t bytes_of_tensor = 32768;

uint8_t byte_of(uint32_t n, uint32_t seed) {
  uint32_t x = n * 0x9E3779B1u + seed * 0x85EBCA77u;
  x ^= x >> 15;
  x *= 0x7FEB352Du;
  // Every fifth word is a denormal number.
  return (uint8_t)(x >> 21) & (n / 4 % 5 != 0 || n % 4 < 2 ? 0xff : n % 4 == 2 ? 0x7f : 0x80);
}

constexpr uint64_t nan_outside = 0x7ff77ff77ff77ff7;  // as an H100 fills

// The step along the first axis is ignored: "TMA doesn't support the stride for dimension zero" (cuda.h).
uint32_t step_of(const Case &given, uint32_t axis) { return axis == 0 ? 1 : given.steps[axis]; }

uint32_t count_of(const Case &given, uint32_t axis) {
  return (given.box[axis] + step_of(given, axis) - 1) / step_of(given, axis);
}

uint32_t bytes_of(const Case &given) {
  uint32_t bytes = given.size;
  for (uint32_t axis = 0; axis < given.rank; ++axis) bytes *= count_of(given, axis);
  return bytes;
}

uint32_t swizzled(const Case &given, uint32_t place) {
  const uint32_t mask = given.swizzle == SW128 ? 7 : given.swizzle == SW64 ? 3 : given.swizzle == SW32;
  return place ^ (place >> 7 & mask) << 4;
}

// Calls `visit` with each element's place in the tile, and where it is in the tensor; -1: outside.
template <typename Visit>
void each_element(const Case &given, Visit visit) {
  for (uint32_t n = 0; n < bytes_of(given) / given.size; ++n) {
    int64_t place = 0;
    uint32_t rest = n;
    const uint32_t in_row = count_of(given, 0);
    const uint32_t pitch = given.swizzle == PLAIN    ? in_row * given.size
                           : given.swizzle == SW32 ? 32
                           : given.swizzle == SW64 ? 64
                                                   : 128;
    bool inside = true;
    for (uint32_t axis = 0; axis < given.rank; ++axis) {
      const uint32_t count = count_of(given, axis);
      const int64_t at = given.at[axis] + (int64_t)(rest % count) * step_of(given, axis);
      rest /= count;
      inside = inside && at >= 0 && at < (int64_t)given.dims[axis];
      place += at * (axis == 0 ? given.size : (int64_t)given.strides[axis - 1]);
    }
    visit(swizzled(given, n / in_row * pitch + n % in_row * given.size), inside ? place : -1);
  }
}

template <typename T>
T combined(Action how, T old, T now) {
  switch (how) {
    case add: return old + now;
    case minimum: return now < old ? now : old;
    case maximum: return now > old ? now : old;
    case bit_and: return old & now;
    case bit_or: return old | now;
    case bit_xor: return old ^ now;
    default: return now;
  }
}

template <typename T>
void combine(Action how, uint8_t *to, const uint8_t *from) {
  T old, now;
  std::memcpy(&old, to, sizeof(T));
  std::memcpy(&now, from, sizeof(T));
  old = combined(how, old, now);
  std::memcpy(to, &old, sizeof(T));
}

uint32_t flushed(uint32_t bits) { return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits; }

void add_floats(bool flushes, uint8_t *to, const uint8_t *from) {
  uint32_t bits[2];
  float numbers[2];
  std::memcpy(&bits[0], to, 4);
  std::memcpy(&bits[1], from, 4);
  if (flushes) bits[0] = flushed(bits[0]), bits[1] = flushed(bits[1]);
  std::memcpy(numbers, bits, sizeof(bits));
  numbers[0] += numbers[1];
  std::memcpy(bits, numbers, sizeof(bits));
  if (numbers[0] != numbers[0]) bits[0] = 0x7fffffff;
  if (flushes) bits[0] = flushed(bits[0]);
  std::memcpy(to, &bits[0], 4);
}

bool is_float(const Case &given) {
  return given.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ||
         given.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
}

// Of TF32 ten bits after the point are kept, to nearest even.
void load_element(const Case &given, uint8_t *to, const uint8_t *from) {
  std::memcpy(to, from, given.size);
  if (given.type < CU_TENSOR_MAP_DATA_TYPE_TFLOAT32) return;
  uint32_t bits;
  std::memcpy(&bits, from, 4);
  bits = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffe000
                                          : (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
  std::memcpy(to, &bits, 4);
}

void put(const Case &given, Action how, uint8_t *to, const uint8_t *from) {
  if (how == store) {
    std::memcpy(to, from, given.size);
  } else if (is_float(given)) {
    add_floats(given.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ ||
                   given.type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
               to, from);
  } else if (given.type == CU_TENSOR_MAP_DATA_TYPE_INT32) {
    combine<int32_t>(how, to, from);
  } else if (given.type == CU_TENSOR_MAP_DATA_TYPE_UINT32) {
    combine<uint32_t>(how, to, from);
  } else if (given.type == CU_TENSOR_MAP_DATA_TYPE_INT64) {
    combine<int64_t>(how, to, from);
  } else {
    combine<uint64_t>(how, to, from);
  }
}

using Encode = CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                            const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                            const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static Encode encode;
static uint8_t *device_tensor, *device_tile;

bool launch(const Case &given, Action how) {
  CUtensorMap map;
  const CUresult made =
      encode(&map, given.type, given.rank, device_tensor, given.dims, given.strides, given.box,
             given.steps, CU_TENSOR_MAP_INTERLEAVE_NONE, given.swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, given.fill);
  if (made != CUDA_SUCCESS) {
    std::printf("%s: no map (%d)\n", given.name, (int)made);
    return false;
  }
  Coordinates where;
  std::memcpy(where.at, given.at, sizeof(where.at));
  const uint32_t bytes = bytes_of(given);
  switch (given.rank) {
    case 1: launch_one<1>(map, how, where, bytes, device_tile); break;
    case 2: launch_one<2>(map, how, where, bytes, device_tile); break;
    case 3: launch_one<3>(map, how, where, bytes, device_tile); break;
    case 4: launch_one<4>(map, how, where, bytes, device_tile); break;
    default: launch_one<5>(map, how, where, bytes, device_tile); break;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("%s: %s\n", given.name, cudaGetErrorString(error));
  return error == cudaSuccess;
}

void compare(const Case &given, Action how, const std::vector<uint8_t> &found,
             const std::vector<uint8_t> &wanted) {
  uint32_t wrong = 0, first = 0;
  for (uint32_t n = 0; n < wanted.size(); ++n) {
    if (found[n] == wanted[n]) continue;
    if (wrong++ == 0) first = n;
  }
  if (wrong == 0) return;
  ++failures;
  std::printf("%s, action %d: %u bytes differ, the first at %u: %02x, not %02x\n", given.name,
              (int)how, wrong, first, found[first], wanted[first]);
}

void check_load(const Case &given, const std::vector<uint8_t> &tensor) {
  std::vector<uint8_t> wanted(shared_bytes, untouched), found(shared_bytes);
  each_element(given, [&](uint32_t tile, int64_t place) {
    const uint64_t nan = given.fill == NANS ? nan_outside : 0;
    if (place < 0)
      std::memcpy(&wanted[tile], &nan, given.size);
    else
      load_element(given, &wanted[tile], &tensor[place]);
  });
  if (!launch(given, load)) {
    ++failures;
    return;
  }
  cudaMemcpy(found.data(), device_tile, shared_bytes, cudaMemcpyDeviceToHost);
  compare(given, load, found, wanted);
}

void check_store(const Case &given, Action how, const std::vector<uint8_t> &tensor) {
  std::vector<uint8_t> tile(shared_bytes), wanted = tensor, found(tensor.size());
  for (uint32_t n = 0; n < shared_bytes; ++n) tile[n] = byte_of(n, 2);
  each_element(given, [&](uint32_t from, int64_t place) {
    if (place >= 0) put(given, how, &wanted[place], &tile[from]);
  });
  cudaMemcpy(device_tile, tile.data(), shared_bytes, cudaMemcpyHostToDevice);
  if (!launch(given, how)) {
    ++failures;
    return;
  }
  cudaMemcpy(found.data(), device_tensor, found.size(), cudaMemcpyDeviceToHost);
  cudaMemcpy(device_tensor, tensor.data(), tensor.size(), cudaMemcpyHostToDevice);
  compare(given, how, found, wanted);
}

// Copies to try: each case to shared memory, and out of it in each way that it has.
struct Task {
  const Case *given;
  Action how;
};

std::vector<Task> all_tasks() {
  std::vector<Task> tasks;
  for (const Case &given : cases) tasks.push_back({&given, load});
  for (const Case &given : cases) {
    const auto is_before = [](int32_t at) { return at < 0; };
    if (std::any_of(given.at, given.at + given.rank, is_before)) continue;
    if (given.fill == ZEROS) tasks.push_back({&given, store});
    const bool is_whole =
        given.type == CU_TENSOR_MAP_DATA_TYPE_INT32 || given.type == CU_TENSOR_MAP_DATA_TYPE_UINT32 ||
        given.type == CU_TENSOR_MAP_DATA_TYPE_INT64 || given.type == CU_TENSOR_MAP_DATA_TYPE_UINT64;
    if (!is_whole) continue;
    for (const Action how : {add, minimum, maximum, bit_and, bit_or, bit_xor}) {
      const bool is_signed_64 = given.type == CU_TENSOR_MAP_DATA_TYPE_INT64;
      if (!is_signed_64 || how != add) tasks.push_back({&given, how});
    }
  }
  return tasks;
}

// With a number: that task alone, as a card's errors stay; 77 where there is none of that number.
int main(int argc, char **argv) {
  const std::vector<Task> tasks = all_tasks();
  const size_t first = argc > 1 ? std::stoul(argv[1]) : 0;
  const size_t end = argc > 1 ? first + 1 : tasks.size();
  if (end > tasks.size()) return 77;
  cudaDriverEntryPointQueryResult status;
  GOOD(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                        cudaEnableDefault, &status));
  if (encode == nullptr) return 1;
  std::vector<uint8_t> tensor(bytes_of_tensor);
  for (uint32_t n = 0; n < tensor.size(); ++n) tensor[n] = byte_of(n, 1);
  GOOD(cudaMalloc(&device_tensor, tensor.size()));
  GOOD(cudaMalloc(&device_tile, shared_bytes));
  GOOD(cudaMemcpy(device_tensor, tensor.data(), tensor.size(), cudaMemcpyHostToDevice));
  for (size_t number = first; number < end; ++number) {
    const Task &task = tasks[number];
    if (task.how == load) check_load(*task.given, tensor);
    else check_store(*task.given, task.how, tensor);
  }
  return failures;
}
