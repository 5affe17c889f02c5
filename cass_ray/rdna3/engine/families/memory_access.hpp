// Per-lane loads and stores, shared by the memory families. Only lanes of `exec` are touched.
#pragma once

#include "operation.hpp"

namespace cass::rdna3::CASS_RDNA3_LEVEL {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Where the lanes' data are: a common base and 32-bit offsets, or full addresses.
struct Narrow {
  std::byte* base;
  U32 offset;
};
struct Wide {
  U64 address;
};

ALWAYS_INLINE Narrow moved(const Narrow& at, u32 bytes) { return {at.base + bytes, at.offset}; }
ALWAYS_INLINE Wide moved(const Wide& at, u32 bytes) { return {at.address + bytes}; }

ALWAYS_INLINE U64 addresses(const Narrow& at) {
  return convert<U64>(at.offset) + reinterpret_cast<u64>(at.base);
}
ALWAYS_INLINE U64 addresses(const Wide& at) { return at.address; }

ALWAYS_INLINE unsigned first_lane(u32 exec) {
  return exec == ~0U ? 0 : static_cast<unsigned>(__builtin_ctz(exec));
}

// The address that lane 0 has, or would have, where the active lanes are `stride` bytes apart in
// order; null where they are not.
ALWAYS_INLINE std::byte* in_sequence(const Narrow& at, u32 exec, u32 stride) {
  const unsigned first = first_lane(exec);
  const u32 offset = at.offset[first];
  const u32 start = offset - stride * first;
  const u32 equal = mask_of(at.offset == start + lane_numbers * stride);
  if ((equal & exec) != exec || offset > ~(stride * lanes)) return nullptr;
  return at.base + offset - stride * first;
}
ALWAYS_INLINE std::byte* in_sequence(const Wide& at, u32 exec, u32 stride) {
  const unsigned first = first_lane(exec);
  const u64 start = at.address[first] - stride * first;
  const u32 equal = mask_of(at.address == start + convert<U64>(lane_numbers * stride));
  if ((equal & exec) != exec) return nullptr;
  return reinterpret_cast<std::byte*>(start);
}

#if defined(__AVX512F__)

struct Half512 { __m512i part[2]; };
struct Quarter512 { __m512i part[4]; };

ALWAYS_INLINE void load_sequence(U32& row, u32 exec, const std::byte* from) {
  if (__builtin_expect(exec == ~0U, 1)) {
    std::memcpy(&row, from, sizeof row);
    return;
  }
  auto parts = bits_as<Half512>(row);
  for (int k = 0; k < 2; ++k) {
    parts.part[k] = _mm512_mask_loadu_epi32(parts.part[k], static_cast<__mmask16>(exec >> (16 * k)),
                                            from + 64 * k);
  }
  row = bits_as<U32>(parts);
}

ALWAYS_INLINE void store_sequence(const U32& row, u32 exec, std::byte* to) {
  if (__builtin_expect(exec == ~0U, 1)) {
    std::memcpy(to, &row, sizeof row);
    return;
  }
  const auto parts = bits_as<Half512>(row);
  for (int k = 0; k < 2; ++k) {
    _mm512_mask_storeu_epi32(to + 64 * k, static_cast<__mmask16>(exec >> (16 * k)), parts.part[k]);
  }
}

ALWAYS_INLINE void gather(U32& row, u32 exec, const Wide& at) {
  struct Eighths { __m256i part[4]; };
  auto values = bits_as<Eighths>(row);
  const auto from = bits_as<Quarter512>(at.address);
  for (int k = 0; k < 4; ++k) {
    values.part[k] = _mm512_mask_i64gather_epi32(
        values.part[k], static_cast<__mmask8>(exec >> (8 * k)), from.part[k], nullptr, 1);
  }
  row = bits_as<U32>(values);
}

ALWAYS_INLINE void gather(U32& row, u32 exec, const Narrow& at) {
  // The instruction's offsets are signed.
  if (__builtin_expect(mask_of(bits_as<I32>(at.offset)) != 0, 0)) {
    gather(row, exec, Wide{addresses(at)});
    return;
  }
  auto values = bits_as<Half512>(row);
  const auto offsets = bits_as<Half512>(at.offset);
  for (int k = 0; k < 2; ++k) {
    values.part[k] = _mm512_mask_i32gather_epi32(
        values.part[k], static_cast<__mmask16>(exec >> (16 * k)), offsets.part[k], at.base, 1);
  }
  row = bits_as<U32>(values);
}

// Two neighbouring dwords at once.
ALWAYS_INLINE void gather_pair(U32& low, U32& high, u32 exec, U64 at) {
  auto values = bits_as<Quarter512>(join(low, high));
  const auto from = bits_as<Quarter512>(at);
  for (int k = 0; k < 4; ++k) {
    values.part[k] = _mm512_mask_i64gather_epi64(
        values.part[k], static_cast<__mmask8>(exec >> (8 * k)), from.part[k], nullptr, 1);
  }
  const U64 both = bits_as<U64>(values);
  low = convert<U32>(both);
  high = convert<U32>(both >> 32);
}

#else

template <class Body>
ALWAYS_INLINE void for_each_lane(u32 exec, Body body) {
  for (u32 rest = exec; rest != 0; rest &= rest - 1) body(__builtin_ctz(rest));
}

struct AddressList {
  alignas(64) u64 lane[lanes];
};
ALWAYS_INLINE AddressList listed(U64 address) { return bits_as<AddressList>(address); }

ALWAYS_INLINE void load_sequence(U32& row, u32 exec, const std::byte* from) {
  if (__builtin_expect(exec == ~0U, 1)) {
    std::memcpy(&row, from, sizeof row);
    return;
  }
  auto& values = reinterpret_cast<Row&>(row);
  for_each_lane(exec, [&](int k) { std::memcpy(&values.lane[k], from + 4 * k, 4); });
}

ALWAYS_INLINE void store_sequence(const U32& row, u32 exec, std::byte* to) {
  if (__builtin_expect(exec == ~0U, 1)) {
    std::memcpy(to, &row, sizeof row);
    return;
  }
  const auto& values = reinterpret_cast<const Row&>(row);
  for_each_lane(exec, [&](int k) { std::memcpy(to + 4 * k, &values.lane[k], 4); });
}

ALWAYS_INLINE void gather(U32& row, u32 exec, const Wide& at) {
  const AddressList from = listed(at.address);
  auto& values = reinterpret_cast<Row&>(row);
  for_each_lane(exec, [&](int k) {
    std::memcpy(&values.lane[k], reinterpret_cast<const void*>(from.lane[k]), 4);
  });
}

ALWAYS_INLINE void gather(U32& row, u32 exec, const Narrow& at) {
#if defined(__AVX2__)
  if (exec == ~0U && mask_of(bits_as<I32>(at.offset)) == 0) {
    struct Quarters { __m256i part[4]; };
    const auto offsets = bits_as<Quarters>(at.offset);
    Quarters values;
    for (int k = 0; k < 4; ++k) {
      values.part[k] = _mm256_i32gather_epi32(reinterpret_cast<const int*>(at.base),
                                              offsets.part[k], 1);
    }
    row = bits_as<U32>(values);
    return;
  }
#endif
  gather(row, exec, Wide{addresses(at)});
}

ALWAYS_INLINE void gather_pair(U32& low, U32& high, u32 exec, U64 at) {
  const AddressList from = listed(at);
  auto& lows = reinterpret_cast<Row&>(low);
  auto& highs = reinterpret_cast<Row&>(high);
  for_each_lane(exec, [&](int k) {
    const auto* data = reinterpret_cast<const std::byte*>(from.lane[k]);
    std::memcpy(&lows.lane[k], data, 4);
    std::memcpy(&highs.lane[k], data + 4, 4);
  });
}

#endif

ALWAYS_INLINE U32& destination_row(Wave& w, const Instruction& i, int number) {
  return place<U32>(w, i.destination.value + static_cast<u32>(number) * w.row_stride);
}
ALWAYS_INLINE U32& source_row(Wave& w, const Operand& operand, int number) {
  return place<U32>(w, operand.value + static_cast<u32>(number) * w.row_stride);
}

// `count` dwords a lane into consecutive registers. All are read before any is written: the
// address may be in one of them.
template <int count, class At>
ALWAYS_INLINE void load_dwords(Wave& w, const Instruction& i, const At& at) {
  const u32 exec = exec_of(w, i);
  if (exec == 0) return;
  w.current = &i;
  if constexpr (count == 1) {
    U32& row = destination_row(w, i, 0);
    if (const std::byte* from = in_sequence(at, exec, 4)) {
      load_sequence(row, exec, from);
    } else {
      U32 value = row;
      gather(value, exec, at);
      row = value;
    }
  } else {
    U32 values[count];
    for (int k = 0; k < count; ++k) values[k] = destination_row(w, i, k);
    const U64 from = addresses(at);
    for (int k = 0; k + 1 < count; k += 2) gather_pair(values[k], values[k + 1], exec, from + 4ULL * k);
    if (count % 2 != 0) gather(values[count - 1], exec, Wide{from + 4ULL * (count - 1)});
    for (int k = 0; k < count; ++k) destination_row(w, i, k) = values[k];
  }
}

struct StoreList {
  alignas(64) u64 lane[lanes];
};

template <int count, class At>
ALWAYS_INLINE void store_dwords(Wave& w, const Instruction& i, const Operand& data, const At& at) {
  const u32 exec = exec_of(w, i);
  if (exec == 0) return;
  w.current = &i;
  if constexpr (count == 1) {
    if (std::byte* to = in_sequence(at, exec, 4)) {
      store_sequence(source_row(w, data, 0), exec, to);
      return;
    }
  }
  const auto to = bits_as<StoreList>(addresses(at));
  const auto* rows = reinterpret_cast<const std::byte*>(&source_row(w, data, 0));
  for (u32 rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    auto* target = reinterpret_cast<std::byte*>(to.lane[lane]);
    for (int k = 0; k < count; ++k) {
      std::memcpy(target + 4 * k, rows + k * w.row_stride + 4 * lane, 4);
    }
  }
}

// Bytes and 16-bit words. `Part`: what of the register is written: all of it, or a half of it.
enum class Part { whole, low, high };

template <class Memory, class Register, Part part, class At>
ALWAYS_INLINE void load_small(Wave& w, const Instruction& i, const At& at) {
  using MemoryLanes = Memory __attribute__((ext_vector_type(32)));
  using RegisterLanes = Register __attribute__((ext_vector_type(32)));
  const u32 exec = exec_of(w, i);
  if (exec == 0) return;
  w.current = &i;
  U32& row = destination_row(w, i, 0);
  if constexpr (part == Part::whole) {
    if (exec == ~0U) {
      if (const std::byte* from = in_sequence(at, exec, sizeof(Memory))) {
        MemoryLanes values;
        std::memcpy(&values, from, sizeof values);
        row = bits_as<U32>(convert<RegisterLanes>(values));
        return;
      }
    }
  }
  const auto from = bits_as<StoreList>(addresses(at));
  auto& target = reinterpret_cast<Row&>(row);
  for (u32 rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    Memory value;
    std::memcpy(&value, reinterpret_cast<const void*>(from.lane[lane]), sizeof value);
    const u32 bits = static_cast<u32>(static_cast<Register>(value));
    u32& old = target.lane[lane];
    if (part == Part::whole) old = bits;
    if (part == Part::low) old = (old & 0xFFFF'0000U) | (bits & 0xFFFFU);
    if (part == Part::high) old = (old & 0xFFFFU) | bits << 16;
  }
}

template <class Memory, Part part, class At>
ALWAYS_INLINE void store_small(Wave& w, const Instruction& i, const Operand& data, const At& at) {
  using MemoryLanes = Memory __attribute__((ext_vector_type(32)));
  const u32 exec = exec_of(w, i);
  if (exec == 0) return;
  w.current = &i;
  U32 row = source_row(w, data, 0);
  if (part == Part::high) row >>= 16;
  const MemoryLanes values = convert<MemoryLanes>(row);
  if (exec == ~0U) {
    if (std::byte* to = in_sequence(at, exec, sizeof(Memory))) {
      std::memcpy(to, &values, sizeof values);
      return;
    }
  }
  struct Values { Memory lane[lanes]; };
  const auto from = bits_as<Values>(values);
  const auto to = bits_as<StoreList>(addresses(at));
  for (u32 rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    std::memcpy(reinterpret_cast<void*>(to.lane[lane]), &from.lane[lane], sizeof(Memory));
  }
}

}  // namespace
}  // namespace cass::rdna3::CASS_RDNA3_LEVEL
