// Copies by tensor maps (PTX: cp.async.bulk.tensor), tiled and of pixels (im2col), by one lane.

namespace {

constexpr uint32_t most_axes = 5;
constexpr uint32_t map_magic = 0x50414d54;

// As `port/driver/tensor_map.hpp` writes it: Nvidia's own layout is not known to anyone.
struct TensorMap {
  uint32_t magic;
  uint8_t rank, element_bytes, type, swizzle_chunks;
  uint16_t box[most_axes];
  uint8_t steps[most_axes], is_nan_outside;
  uint64_t address;
  uint64_t sizes[most_axes];
  uint64_t strides[most_axes];  // of the first axis: an element's bytes
  // Of pixels: the first axis are channels, the last one images. The box of pixels begins at
  // `lower` and ends `upper` pixels after the image; `box` has the numbers of channels and of
  // pixels.
  int16_t lower[most_axes - 2], upper[most_axes - 2];
  uint8_t is_im2col;
};
static_assert(sizeof(TensorMap) <= 128);

// CUtensorMapDataType (cuda.h).
enum class Element : uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz
};

struct Coordinates {
  int32_t at[most_axes];
  uint32_t offsets;  // of pixels, from the one that is named

  // The offset along the axis after the channels by `axis`: 16, twice 8 or three times 5 bits.
  __device__ uint32_t offset(const TensorMap &map, uint32_t axis) const {
    const uint32_t bits = map.rank == 3 ? 16 : map.rank == 4 ? 8 : 5;
    return offsets >> axis * bits & ((1u << bits) - 1);
  }
};

// `shape` is what an instruction says of its copy: bits 0 to 2 are the axes, bit 3 is set for
// pixels, bits 16 to 31 are their offsets.
__device__ const TensorMap &map_at(uint64_t address, uint32_t shape) {
  const TensorMap &map = *reinterpret_cast<const TensorMap *>(address);
  const bool is_of_kind = map.rank == (shape & 7) && map.is_im2col == (shape >> 3 & 1);
  if (map.magic != map_magic || !is_of_kind) __builtin_trap();
  return map;
}

__device__ uint32_t count_along(const TensorMap &map, uint32_t axis) {
  return (map.box[axis] + map.steps[axis] - 1) / map.steps[axis];
}

__device__ uint32_t rows_of(const TensorMap &map) {
  if (map.is_im2col) return map.box[1];
  uint32_t rows = 1;
  for (uint32_t axis = 1; axis < map.rank; ++axis) rows *= count_along(map, axis);
  return rows;
}

// Rows of a swizzled tile are as long as those of the pattern, whatever is in them.
__device__ uint32_t bytes_of_row(const TensorMap &map) {
  if (map.swizzle_chunks > 1) return map.swizzle_chunks * 16u;
  return count_along(map, 0) * map.element_bytes;
}

// As `each_row`, where a row are a pixel's channels. From the named pixel on, those of the box
// follow each other: along each axis by its step, and from the box's end to its beginning. What is
// copied is `offset` away. A first pixel out of the box ends the program, as on an H200; one
// between two steps does not.
template <typename Visit>
__device__ void each_pixel(const TensorMap &map, const Coordinates &from, Visit visit) {
  const uint32_t spatial = map.rank - 2, images = map.rank - 1;
  int64_t place[most_axes], end[most_axes];
  for (uint32_t axis = 1; axis < map.rank; ++axis) place[axis] = from.at[axis];
  for (uint32_t axis = 1; axis <= spatial; ++axis) {
    const int64_t passed = place[axis] - map.lower[axis - 1];
    end[axis] = (int64_t)map.sizes[axis] + map.upper[axis - 1];
    if (passed < 0 || place[axis] >= end[axis]) __builtin_trap();
  }
  for (uint32_t row = 0; row < rows_of(map); ++row) {
    uint64_t address = map.address + (int64_t)from.at[0] * map.element_bytes;
    bool is_inside = true;
    for (uint32_t axis = 1; axis < map.rank; ++axis) {
      const int64_t at = place[axis] + (axis <= spatial ? from.offset(map, axis - 1) : 0);
      is_inside = is_inside && (uint64_t)at < map.sizes[axis];
      address += at * map.strides[axis];
    }
    visit(row * bytes_of_row(map), address, is_inside);
    for (uint32_t axis = 1; axis < map.rank; ++axis) {
      place[axis] += map.steps[axis];
      if (axis == images || place[axis] < end[axis]) break;
      place[axis] = map.lower[axis - 1];
    }
  }
}

// Calls `visit` for each row of a tile: with the number of its first byte in the tile, the address
// of its first element, that element's coordinate, and whether the row is in the tensor.
template <typename Visit>
__device__ void each_row(const TensorMap &map, const Coordinates &from, Visit visit) {
  if (map.is_im2col) return each_pixel(map, from, visit);
  for (uint32_t row = 0; row < rows_of(map); ++row) {
    uint64_t address = map.address + (int64_t)from.at[0] * map.element_bytes;
    bool is_inside = true;
    uint32_t rest = row;
    for (uint32_t axis = 1; axis < map.rank; ++axis) {
      const uint32_t count = count_along(map, axis);
      const int64_t at = from.at[axis] + (int64_t)(rest % count) * map.steps[axis];
      rest /= count;
      is_inside = is_inside && (uint64_t)at < map.sizes[axis];
      address += at * map.strides[axis];
    }
    visit(row * bytes_of_row(map), address, is_inside);
  }
}

// Where byte `number` of a tile is: the pattern goes by the address in shared memory.
__device__ uint32_t swizzled(const TensorMap &map, uint32_t tile, uint32_t number) {
  const uint32_t place = tile + number;
  return place ^ (place >> 7 & (map.swizzle_chunks - 1u)) << 4;
}

template <typename T>
using InTile = T __attribute__((address_space(3)));

// What stands for elements outside of the tensor: an H100 fills with one half, whatever the size.
__device__ uint64_t outside(const TensorMap &map) {
  return map.is_nan_outside ? 0x7ff77ff77ff77ff7 : 0;
}

// To ten bits after the point, to nearest even, as an H200 loads elements of TF32: denormal numbers
// stay, what is no number becomes one NaN. Stores leave elements as they are.
__device__ uint32_t as_tf32(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fffe000;
  return (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
}

__device__ bool is_tf32(const TensorMap &map) {
  const Element type = static_cast<Element>(map.type);
  return type == Element::tf32 || type == Element::tf32_ftz;
}

template <typename T, typename Change>
__device__ void load_elements(const TensorMap &map, const Coordinates &from, uint32_t tile,
                              uint32_t shift, Change change) {
  const uint32_t count = count_along(map, 0);
  const T other = (T)outside(map);
  each_row(map, from, [&](uint32_t number, uint64_t address, bool is_inside) {
    for (uint32_t n = 0; n < count; ++n) {
      const uint64_t at = (int64_t)from.at[0] + n * map.steps[0];
      InTile<T> *const to = (InTile<T> *)(swizzled(map, tile, number + n * sizeof(T)) + shift);
      const bool is_there = is_inside && at < map.sizes[0];
      *to = is_there ? change(reinterpret_cast<const T *>(address)[n * map.steps[0]]) : other;
    }
  });
}

template <typename T, typename Change>
__device__ void store_elements(const TensorMap &map, const Coordinates &from, uint32_t tile,
                               uint32_t shift, Change change) {
  const uint32_t count = count_along(map, 0);
  each_row(map, from, [&](uint32_t number, uint64_t address, bool is_inside) {
    for (uint32_t n = 0; n < count; ++n) {
      const uint64_t at = (int64_t)from.at[0] + n * map.steps[0];
      if (!is_inside || at >= map.sizes[0]) continue;
      const uint32_t place = swizzled(map, tile, number + n * sizeof(T)) + shift;
      change(reinterpret_cast<T *>(address) + n * map.steps[0], *(InTile<const T> *)place);
    }
  });
}

template <typename Kind>
__device__ void reduce_elements(const TensorMap &map, const Coordinates &from, uint32_t tile,
                                uint32_t shift, Reduction how) {
  using Word = typename Kind::Word;
  const auto change = [how](Word *to, Word given) { reduce_word<Kind>(to, given, how); };
  store_elements<Word>(map, from, tile, shift, change);
}

}  // namespace

// A tile from global to shared memory; gives the bytes of it. `tile` is Nvidia's address, to which
// `shift` is added.
extern "C" __device__ __attribute__((noinline)) uint32_t
__cass_tensor_load(uint64_t address, uint32_t shape, uint32_t tile, uint32_t shift, int32_t c0,
                   int32_t c1, int32_t c2, int32_t c3, int32_t c4) {
  const TensorMap &map = map_at(address, shape);
  const Coordinates from{{c0, c1, c2, c3, c4}, shape >> 16};
  const auto same = [](auto given) { return given; };
  const auto rounded = [is_short = is_tf32(map)](uint32_t given) {
    return is_short ? as_tf32(given) : given;
  };
  switch (map.element_bytes) {
    case 1: load_elements<uint8_t>(map, from, tile, shift, same); break;
    case 2: load_elements<uint16_t>(map, from, tile, shift, same); break;
    case 4: load_elements<uint32_t>(map, from, tile, shift, rounded); break;
    default: load_elements<uint64_t>(map, from, tile, shift, same); break;
  }
  return rows_of(map) * count_along(map, 0) * map.element_bytes;
}

// The same to each block of a cluster whose bit is set in `blocks`, with its barrier. `shift` and
// `barrier` are those of the first block, whose LDS has `apart` bytes.
extern "C" __device__ void __cass_tensor_multicast(uint64_t address, uint32_t shape, uint32_t tile,
                                                   uint32_t shift, uint32_t barrier,
                                                   uint32_t blocks, uint32_t apart, int32_t c0,
                                                   int32_t c1, int32_t c2, int32_t c3, int32_t c4) {
  for (; blocks != 0; blocks &= blocks - 1) {
    const uint32_t start = __builtin_ctz(blocks) * apart;
    const uint32_t bytes =
        __cass_tensor_load(address, shape, tile, shift + start, c0, c1, c2, c3, c4);
    __cass_mbarrier_arrive(barrier + start, 0, -bytes, 0);
  }
}

// A tile from shared to global memory; what is outside of the tensor is left out.
extern "C" __device__ __attribute__((noinline)) void __cass_tensor_store(
    uint64_t address, uint32_t shape, uint32_t tile, uint32_t shift, int32_t c0, int32_t c1,
    int32_t c2, int32_t c3, int32_t c4) {
  const TensorMap &map = map_at(address, shape);
  const Coordinates from{{c0, c1, c2, c3, c4}, shape >> 16};
  const auto assign = [](auto *to, auto given) { *to = given; };
  switch (map.element_bytes) {
    case 1: return store_elements<uint8_t>(map, from, tile, shift, assign);
    case 2: return store_elements<uint16_t>(map, from, tile, shift, assign);
    case 4: return store_elements<uint32_t>(map, from, tile, shift, assign);
    default: return store_elements<uint64_t>(map, from, tile, shift, assign);
  }
}

// Reduces a tile into the tensor, each element by itself; what has no such reduction ends the
// program.
extern "C" __device__ __attribute__((noinline)) void __cass_tensor_reduce(
    uint64_t address, uint32_t shape, uint32_t tile, uint32_t shift, int32_t c0, int32_t c1,
    int32_t c2, int32_t c3, int32_t c4, uint32_t how) {
  const TensorMap &map = map_at(address, shape);
  const Coordinates from{{c0, c1, c2, c3, c4}, shape >> 16};
  const Reduction chosen = static_cast<Reduction>(how);
  switch (static_cast<Element>(map.type)) {
    case Element::u32: return reduce_elements<Integer<uint32_t>>(map, from, tile, shift, chosen);
    case Element::s32: return reduce_elements<Integer<int32_t>>(map, from, tile, shift, chosen);
    case Element::u64: return reduce_elements<Integer<uint64_t>>(map, from, tile, shift, chosen);
    case Element::s64: return reduce_elements<Integer<int64_t>>(map, from, tile, shift, chosen);
    case Element::f16: return reduce_elements<Short<HalfFormat>>(map, from, tile, shift, chosen);
    case Element::bf16: return reduce_elements<Short<BrainFormat>>(map, from, tile, shift, chosen);
    case Element::f32:
    case Element::tf32: return reduce_elements<Single>(map, from, tile, shift, chosen);
    case Element::f32_ftz:
    case Element::tf32_ftz: return reduce_elements<FlushedSingle>(map, from, tile, shift, chosen);
    case Element::f64: return reduce_elements<Double>(map, from, tile, shift, chosen);
    default: __builtin_trap();
  }
}
