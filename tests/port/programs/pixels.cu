// Copies of pixels by tensor maps (PTX: im2col), as convolutions load them. What arrives is compared with
// each output pixel's window of a padded image, worked out with plain loops: convolution's definition, not
// the copies'. The map of a convolution (padding p, filter s, dilation d) has its box from -p to
// p - (s - 1) d, as cuDNN's and CUTLASS's have; the offsets are those of a filter's element.
#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "expect.h"

__device__ uint32_t address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

constexpr int most_bytes = 8192, threads = 64;

struct Copy {
  int32_t at[5];
  uint16_t offsets[3];
  uint32_t bytes;
};

#define LOAD(rank, names) \
  "cp.async.bulk.tensor." rank "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {" names "}], [%2], "

template <int rank>
__global__ void load(const __grid_constant__ CUtensorMap map, Copy copy, uint8_t* out) {
  __shared__ alignas(1024) uint8_t tile[most_bytes];
  __shared__ alignas(8) uint64_t barrier;
  const uint32_t to = address(tile), bar = address(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" ::"r"(bar) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(copy.bytes) : "memory");
    const int32_t* c = copy.at;
    const uint16_t* o = copy.offsets;
    if constexpr (rank == 3)
      asm volatile(LOAD("3", "%3, %4, %5") "{%6};" ::"r"(to), "l"(&map), "r"(bar), "r"(c[0]), "r"(c[1]), "r"(c[2]),
                   "h"(o[0]) : "memory");
    if constexpr (rank == 4)
      asm volatile(LOAD("4", "%3, %4, %5, %6") "{%7, %8};" ::"r"(to), "l"(&map), "r"(bar), "r"(c[0]), "r"(c[1]),
                   "r"(c[2]), "r"(c[3]), "h"(o[0]), "h"(o[1]) : "memory");
    if constexpr (rank == 5)
      asm volatile(LOAD("5", "%3, %4, %5, %6, %7") "{%8, %9, %10};" ::"r"(to), "l"(&map), "r"(bar), "r"(c[0]),
                   "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "h"(o[0]), "h"(o[1]), "h"(o[2]) : "memory");
  }
  __syncthreads();
  for (uint32_t over = 0; !over;) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(over) : "r"(bar) : "memory");
  }
  for (uint32_t n = threadIdx.x; n < most_bytes; n += threads) out[n] = tile[n];
}

__global__ void store(const __grid_constant__ CUtensorMap map, Copy copy, bool adds, const uint8_t* in) {
  __shared__ alignas(1024) uint8_t tile[most_bytes];
  for (uint32_t n = threadIdx.x; n < copy.bytes; n += threads) tile[n] = in[n];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  const int32_t* c = copy.at;
  if (adds) {
    asm volatile("cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group [%0, {%1, %2, %3, %4}], [%5];"
                 ::"l"(&map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(address(tile)) : "memory");
  } else {
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%0, {%1, %2, %3, %4}], [%5];"
                 ::"l"(&map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(address(tile)) : "memory");
  }
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

// Axes are width, height, depth; those that there are not have size 1 and a filter of 1.
struct Convolution {
  const char* name;
  int axes, channels, images, size[3], filter[3], padding[3], step[3], dilation[3];
  int first_pixel, pixels, first_channel, channels_of_pixel;
  CUtensorMapSwizzle swizzle;
};

static int outputs(const Convolution& c, int axis) {
  return (c.size[axis] + 2 * c.padding[axis] - (c.filter[axis] - 1) * c.dilation[axis] - 1) / c.step[axis] + 1;
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const int*, const int*, cuuint32_t, cuuint32_t, const cuuint32_t*, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static Encode encode;
static uint8_t *tensor, *tile;

static CUtensorMap map_of(const Convolution& c) {
  const int rank = c.axes + 2;
  cuuint64_t sizes[5], strides[4];
  cuuint32_t steps[5];
  int lower[3], upper[3];
  sizes[0] = c.channels, sizes[rank - 1] = c.images;
  steps[0] = 2;  // ignored, as cuda.h says
  steps[rank - 1] = 1;
  for (int k = 0; k < c.axes; ++k) {
    sizes[k + 1] = c.size[k], steps[k + 1] = c.step[k];
    lower[k] = -c.padding[k];
    upper[k] = c.padding[k] - (c.filter[k] - 1) * c.dilation[k];
  }
  for (int k = 0; k < rank - 1; ++k) strides[k] = (k ? strides[k - 1] : sizeof(uint32_t)) * sizes[k];
  CUtensorMap map;
  EXPECT(encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, rank, tensor, sizes, strides, lower, upper, c.channels_of_pixel,
                c.pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, c.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return map;
}

// An output pixel's coordinates, images last.
struct Pixel {
  int at[3], image;
};

static Pixel pixel(const Convolution& c, int number) {
  Pixel found;
  for (int k = 0; k < 3; ++k) {
    found.at[k] = number % outputs(c, k);
    number /= outputs(c, k);
  }
  found.image = number;
  return found;
}

// The place of a channel that an output pixel needs for a filter's element; -1 in the padding.
static int64_t needed(const Convolution& c, const Pixel& p, const int (&element)[3], int channel) {
  int64_t place = p.image;
  if (p.image >= c.images || channel >= c.channels) return -1;
  for (int k = 2; k >= 0; --k) {
    const int at = p.at[k] * c.step[k] - c.padding[k] + element[k] * c.dilation[k];
    if (at < 0 || at >= c.size[k]) return -1;
    place = place * c.size[k] + at;
  }
  return place * c.channels + channel;
}

static uint32_t swizzled(const Convolution& c, uint32_t row, uint32_t byte) {
  const uint32_t mask = c.swizzle == CU_TENSOR_MAP_SWIZZLE_128B ? 7 : c.swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 3 : 0;
  const uint32_t place = row * c.channels_of_pixel * 4 + byte;
  return place ^ (place >> 7 & mask) << 4;
}

static Copy copy_of(const Convolution& c, const int (&element)[3]) {
  Copy copy{};
  const Pixel first = pixel(c, c.first_pixel);
  copy.at[0] = c.first_channel;
  for (int k = 0; k < c.axes; ++k) {
    copy.at[k + 1] = first.at[k] * c.step[k] - c.padding[k];
    copy.offsets[k] = static_cast<uint16_t>(element[k] * c.dilation[k]);
  }
  copy.at[c.axes + 1] = first.image;
  copy.bytes = static_cast<uint32_t>(c.channels_of_pixel * c.pixels * 4);
  return copy;
}

static std::vector<uint32_t> image(const Convolution& c) {
  std::vector<uint32_t> values(static_cast<size_t>(c.channels) * c.images * c.size[0] * c.size[1] * c.size[2]);
  for (size_t n = 0; n < values.size(); ++n) values[n] = static_cast<uint32_t>(n) * 2654435761u | 1;
  GOOD(cudaMemcpy(tensor, values.data(), values.size() * 4, cudaMemcpyHostToDevice));
  return values;
}

static void expect_loads(const Convolution& c) {
  const auto values = image(c);
  const auto map = map_of(c);
  int element[3];
  for (element[2] = 0; element[2] < c.filter[2]; ++element[2])
    for (element[1] = 0; element[1] < c.filter[1]; ++element[1])
      for (element[0] = 0; element[0] < c.filter[0]; ++element[0]) {
        const auto copy = copy_of(c, element);
        uint8_t found[most_bytes];
        switch (c.axes) {
          case 1: load<3><<<1, threads>>>(map, copy, tile); break;
          case 2: load<4><<<1, threads>>>(map, copy, tile); break;
          default: load<5><<<1, threads>>>(map, copy, tile); break;
        }
        GOOD(cudaMemcpy(found, tile, most_bytes, cudaMemcpyDeviceToHost));
        for (int row = 0; row < c.pixels; ++row)
          for (int k = 0; k < c.channels_of_pixel; ++k) {
            const auto place = needed(c, pixel(c, c.first_pixel + row), element, c.first_channel + k);
            uint32_t word;
            std::memcpy(&word, found + swizzled(c, row, 4 * k), 4);
            const uint32_t wanted = place < 0 ? 0 : values[place];
            if (word == wanted || failures++ > 20) continue;
            std::printf("%s, element (%d, %d, %d), pixel %d, channel %d: %x, not %x\n", c.name, element[0], element[1],
                        element[2], row, k, word, wanted);
          }
      }
}

static void expect_stores(const Convolution& c, bool adds) {
  auto wanted = image(c);
  const auto map = map_of(c);
  const int none[3] = {};
  std::vector<uint32_t> given(c.channels_of_pixel * c.pixels), found(wanted.size());
  for (size_t n = 0; n < given.size(); ++n) given[n] = static_cast<uint32_t>(1000 + n);
  for (int row = 0; row < c.pixels; ++row)
    for (int k = 0; k < c.channels_of_pixel; ++k) {
      const auto place = needed(c, pixel(c, c.first_pixel + row), none, c.first_channel + k);
      const uint32_t value = given[row * c.channels_of_pixel + k];
      if (place >= 0) wanted[place] = value + (adds ? wanted[place] : 0);
    }
  GOOD(cudaMemcpy(tile, given.data(), given.size() * 4, cudaMemcpyHostToDevice));
  store<<<1, threads>>>(map, copy_of(c, none), adds, tile);
  GOOD(cudaMemcpy(found.data(), tensor, found.size() * 4, cudaMemcpyDeviceToHost));
  EXPECT(found == wanted);
}

#define PLAIN CU_TENSOR_MAP_SWIZZLE_NONE

static const Convolution line = {"line", 1, 8, 3, {11, 1, 1}, {3, 1, 1}, {1, 0, 0}, {1, 1, 1}, {1, 1, 1}, 4, 20, 0, 8, PLAIN};
static const Convolution plane = {"plane", 2, 12, 2, {7, 5, 1}, {3, 3, 1}, {1, 1, 0}, {1, 1, 1}, {1, 1, 1}, 9, 40, 4, 4, PLAIN};
static const Convolution wide = {"steps", 2, 8, 3, {9, 8, 1}, {3, 2, 1}, {1, 0, 0}, {2, 3, 1}, {2, 1, 1}, 1, 30, 0, 8, PLAIN};
static const Convolution inner = {"no padding", 2, 32, 2, {6, 6, 1}, {3, 3, 1}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 3, 24, 0, 32,
                                  CU_TENSOR_MAP_SWIZZLE_128B};
static const Convolution over = {"beyond the last image and channel", 2, 12, 1, {5, 4, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1},
                                 {1, 1, 1}, 10, 20, 8, 8, PLAIN};
// Stores have no padding: an H200 ends a program that stores at a negative coordinate.
static const Convolution unpadded = {"stores", 2, 8, 3, {7, 5, 1}, {1, 1, 1}, {0, 0, 0}, {2, 1, 1}, {1, 1, 1}, 2, 30, 0, 8, PLAIN};
static const Convolution deep = {"volume", 3, 4, 2, {5, 4, 3}, {3, 2, 2}, {1, 1, 1}, {2, 1, 1}, {1, 2, 1}, 7, 64, 0, 4, PLAIN};

int main() {
  cudaDriverEntryPointQueryResult status;
  GOOD(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", (void**)&encode, 12000, cudaEnableDefault, &status));
  if (encode == nullptr) return 1;
  GOOD(cudaMalloc(&tensor, 65536));
  GOOD(cudaMalloc(&tile, most_bytes));
  for (const auto& each : {line, plane, wide, inner, over, deep}) expect_loads(each);
  for (const auto& each : {over, unpadded}) {
    expect_stores(each, false);
    expect_stores(each, true);
  }
  return failures != 0;
}
