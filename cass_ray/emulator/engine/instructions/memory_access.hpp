// Per-lane loads and stores, shared by the memory families. Only lanes of `exec` are touched.
#pragma once

#include "containment.hpp"
#include "memory_blocks.hpp"
#include "operation.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

ALWAYS_INLINE unsigned first_lane(u32 exec) {
  return exec == ~0U ? 0 : static_cast<unsigned>(__builtin_ctz(exec));
}

// `action` on each active lane, in their order.
template <class Action>
ALWAYS_INLINE void for_active_lanes(u32 exec, Action action) {
  if (__builtin_expect(exec == ~0U, 1)) {
#pragma clang loop unroll_count(4)
    for (int lane = 0; lane < static_cast<int>(lanes); ++lane) action(lane);
    return;
  }
  for (u32 rest = exec; rest != 0; rest &= rest - 1) action(__builtin_ctz(rest));
}

// The address that lane 0 has, or would have, where the active lanes are `stride` bytes apart in
// order; null where they are not. `first`: the lowest active lane.
ALWAYS_INLINE std::byte* in_sequence_from(const Narrow& at, u32 exec, u32 stride, unsigned first) {
  const u32 offset = at.offset[first];
  const u32 start = offset - stride * first;
  if (offset > ~(stride * lanes)) return nullptr;
  if (!holds_in(at.offset == start + lane_numbers * stride, exec)) return nullptr;
  return at.base + offset - stride * first;
}
ALWAYS_INLINE std::byte* in_sequence_from(const Wide& at, u32 exec, u32 stride, unsigned first) {
  const u64 start = at.address[first] - stride * first;
  if (!holds_in(at.address == start + convert<U64>(lane_numbers * stride), exec)) return nullptr;
  return reinterpret_cast<std::byte*>(start);
}
ALWAYS_INLINE std::byte* in_sequence_from(const Split& at, u32 exec, u32 stride, unsigned first) {
  const u32 low = at.low[first] - stride * first, high = at.high[first];
  if (low > ~(stride * lanes)) return nullptr;
  if (!holds_in((at.low == low + lane_numbers * stride) & (at.high == high), exec)) return nullptr;
  return reinterpret_cast<std::byte*>((low | u64{high} << 32) + at.offset);
}
// With all lanes active the lane that is looked at is known to the compiler.
template <class At>
ALWAYS_INLINE std::byte* in_sequence(const At& at, u32 exec, u32 stride) {
  if (__builtin_expect(exec == ~0U, 1)) return in_sequence_from(at, ~0U, stride, 0);
  return in_sequence_from(at, exec, stride, first_lane(exec));
}

// Whether all lanes are active and have one address.
ALWAYS_INLINE bool is_uniform(const Narrow& at, u32 exec) {
  return exec == ~0U && holds_in(at.offset == at.offset[0], ~0U);
}
ALWAYS_INLINE bool is_uniform(const Wide& at, u32 exec) {
  return exec == ~0U && holds_in(at.address == at.address[0], ~0U);
}
ALWAYS_INLINE bool is_uniform(const Split& at, u32 exec) {
  return exec == ~0U && holds_in((at.low == at.low[0]) & (at.high == at.high[0]), ~0U);
}

ALWAYS_INLINE const std::byte* first_address(const Narrow& at) { return at.base + at.offset[0]; }
ALWAYS_INLINE const std::byte* first_address(const Wide& at) {
  return reinterpret_cast<const std::byte*>(at.address[0]);
}
ALWAYS_INLINE const std::byte* first_address(const Split& at) {
  return reinterpret_cast<const std::byte*>((at.low[0] | u64{at.high[0]} << 32) + at.offset);
}

// One access of the CPU for 8 or 16 bytes: left alone, the compiler reads every dword where it is
// used, and another thread may store between two of them. Where hardware has such an access
// aligned, it is whole, and look-back scans count on it.
template <int count>
ALWAYS_INLINE void read_at_once(u32 (&words)[count], const std::byte* from) {
  std::memcpy(words, from, sizeof words);
}
template <>
ALWAYS_INLINE void read_at_once<2>(u32 (&words)[2], const std::byte* from) {
  u64 both;
  std::memcpy(&both, from, sizeof both);
  asm("" : "+r"(both));
  std::memcpy(words, &both, sizeof words);
}
template <>
ALWAYS_INLINE void read_at_once<4>(u32 (&words)[4], const std::byte* from) {
  Quad all = quad_at(reinterpret_cast<u64>(from));
  asm("" : "+x"(all));
  std::memcpy(words, &all, sizeof words);
}

#if defined(__AVX512F__)

struct Half512 {
  __m512i part[2];
};
struct Quarter512 {
  __m512i part[4];
};

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

// A gather costs far more than to see that its addresses follow one another or are all the same.
ALWAYS_INLINE __m256i gather_part(__m256i values, __mmask8 mask, __m512i from) {
  if (mask == 0xFF) {
    const auto first = static_cast<u64>(_mm_cvtsi128_si64(_mm512_castsi512_si128(from)));
    const __m512i steps = _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28);
    const __m512i one = _mm512_set1_epi64(static_cast<long long>(first));
    const auto* data = reinterpret_cast<const std::byte*>(first);
    if (_mm512_cmpneq_epi64_mask(from, _mm512_add_epi64(one, steps)) == 0) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
    }
    if (_mm512_cmpneq_epi64_mask(from, one) == 0) {
      int value;
      std::memcpy(&value, data, sizeof value);
      return _mm256_set1_epi32(value);
    }
  }
  return _mm512_mask_i64gather_epi32(values, mask, from, nullptr, 1);
}

// Offsets below 2^31: those of the CPU's instruction are signed.
ALWAYS_INLINE __m512i gather_part(__m512i values, __mmask16 mask, __m512i offsets,
                                  const std::byte* base) {
  if (mask == 0xFFFF) {
    const int first = _mm_cvtsi128_si32(_mm512_castsi512_si128(offsets));
    const __m512i steps =
        _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
    const __m512i one = _mm512_set1_epi32(first);
    const std::byte* data = base + first;
    if (_mm512_cmpneq_epi32_mask(offsets, _mm512_add_epi32(one, steps)) == 0) {
      return _mm512_loadu_si512(data);
    }
    if (_mm512_cmpneq_epi32_mask(offsets, one) == 0) {
      int value;
      std::memcpy(&value, data, sizeof value);
      return _mm512_set1_epi32(value);
    }
  }
  return _mm512_mask_i32gather_epi32(values, mask, offsets, base, 1);
}

ALWAYS_INLINE void gather(U32& row, u32 exec, const Wide& at) {
  struct Eighths {
    __m256i part[4];
  };
  auto values = bits_as<Eighths>(row);
  const auto from = bits_as<Quarter512>(at.address);
  for (int k = 0; k < 4; ++k) {
    values.part[k] =
        gather_part(values.part[k], static_cast<__mmask8>(exec >> (8 * k)), from.part[k]);
  }
  row = bits_as<U32>(values);
}

ALWAYS_INLINE void gather(U32& row, u32 exec, const Narrow& at) {
  if (__builtin_expect(mask_of(bits_as<I32>(at.offset)) != 0, 0)) {
    gather(row, exec, Wide{addresses(at)});
    return;
  }
  auto values = bits_as<Half512>(row);
  const auto offsets = bits_as<Half512>(at.offset);
  for (int k = 0; k < 2; ++k) {
    values.part[k] = gather_part(values.part[k], static_cast<__mmask16>(exec >> (16 * k)),
                                 offsets.part[k], at.base);
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

ALWAYS_INLINE void load_sequence(U32& row, u32 exec, const std::byte* from) {
  if (__builtin_expect(exec == ~0U, 1)) {
    std::memcpy(&row, from, sizeof row);
    return;
  }
  auto& values = reinterpret_cast<Row&>(row);
  for_active_lanes(exec, [&](int k) { std::memcpy(&values.lane[k], from + 4 * k, 4); });
}

ALWAYS_INLINE void store_sequence(const U32& row, u32 exec, std::byte* to) {
  if (__builtin_expect(exec == ~0U, 1)) {
    std::memcpy(to, &row, sizeof row);
    return;
  }
  const auto& values = reinterpret_cast<const Row&>(row);
  for_active_lanes(exec, [&](int k) { std::memcpy(to + 4 * k, &values.lane[k], 4); });
}

ALWAYS_INLINE void gather(U32& row, u32 exec, const Wide& at) {
  const AddressList from = listed(at.address);
  auto& values = reinterpret_cast<Row&>(row);
  for_active_lanes(exec, [&](int k) {
    std::memcpy(&values.lane[k], reinterpret_cast<const void*>(from.lane[k]), 4);
  });
}

ALWAYS_INLINE void gather(U32& row, u32 exec, const Narrow& at) {
#if defined(__AVX2__)
  if (exec == ~0U && mask_of(bits_as<I32>(at.offset)) == 0) {
    struct Quarters {
      __m256i part[4];
    };
    const auto offsets = bits_as<Quarters>(at.offset);
    Quarters values;
    for (int k = 0; k < 4; ++k) {
      values.part[k] =
          _mm256_i32gather_epi32(reinterpret_cast<const int*>(at.base), offsets.part[k], 1);
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
  for_active_lanes(exec, [&](int k) {
    u32 words[2];
    read_at_once(words, reinterpret_cast<const std::byte*>(from.lane[k]));
    lows.lane[k] = words[0];
    highs.lane[k] = words[1];
  });
}

#endif

ALWAYS_INLINE void gather(U32& row, u32 exec, const Split& at) {
  gather(row, exec, Wide{addresses(at)});
}

ALWAYS_INLINE u32 destination_offset(const Wave& w, const Instruction& i, int number) {
  return i.destination.value + static_cast<u32>(number) * w.row_stride;
}
ALWAYS_INLINE U32& destination_row(Wave& w, const Instruction& i, int number) {
  return place<U32>(w, destination_offset(w, i, number));
}
ALWAYS_INLINE U32& source_row(Wave& w, const Operand& operand, int number) {
  return place<U32>(w, operand.value + static_cast<u32>(number) * w.row_stride);
}

// The same, but inactive lanes have the address of an active one: reading it does no harm.
ALWAYS_INLINE U64 readable(U64 address, u32 exec) {
  if (__builtin_expect(exec == ~0U, 1)) return address;
  return convert<I64>(lanes_of(exec)) ? address : (U64)address[first_lane(exec)];
}

template <int count, class At>
ALWAYS_INLINE void read_dwords(U32 (&values)[count], u32 exec, const At& at) {
  if constexpr (count == 1) {
    if (const std::byte* from = in_sequence(at, exec, 4)) {
      load_sequence(values[0], exec, from);
    } else {
      gather(values[0], exec, at);
    }
  } else if (is_uniform(at, exec)) {
    u32 words[count];
    read_at_once(words, first_address(at));
    for (int k = 0; k < count; ++k) values[k] = (U32)words[k];
  } else if constexpr (count == 2) {
    const std::byte* from = exec == ~0U ? in_sequence(at, exec, 8) : nullptr;
    if (from != nullptr) {
      U64 pairs;
      std::memcpy(&pairs, from, sizeof pairs);
      values[0] = convert<U32>(pairs);
      values[1] = convert<U32>(pairs >> 32);
    } else {
      gather_pair(values[0], values[1], exec, addresses(at));
    }
  } else if constexpr (count == 3) {
    const U64 from = addresses(at);
    gather_pair(values[0], values[1], exec, from);
    gather(values[2], exec, Wide{from + 8ULL});
  } else if constexpr (count == 4) {
    load_blocks(values, listed(readable(addresses(at), exec)));
  }
}

// `count` dwords a lane into consecutive registers. All are read before any is written: the
// address may be in one of them.
template <int count, class At>
ALWAYS_INLINE void load_dwords(Wave& w, const Instruction& i, const At& at) {
  const u32 exec = exec_of(w, i);
  if (exec == 0) return;
  w.current = &i;
  require(exec, at, 4 * count);
  U32 values[count] = {};
  if (__builtin_expect(exec == ~0U, 1)) {
    // What was in the registers is not read: it may not have arrived yet.
    read_dwords<count>(values, ~0U, at);
    for (int k = 0; k < count; ++k) destination_row(w, i, k) = values[k];
    return;
  }
  read_dwords<count>(values, exec, at);
  for (int k = 0; k < count; ++k) write_row(w, exec, destination_offset(w, i, k), values[k]);
}

constexpr int few_lanes = 4;  // stored one by one sooner than by a masked store

template <int count, class At>
ALWAYS_INLINE void store_dwords(Wave& w, const Instruction& i, const Operand& data, const At& at) {
  const u32 active = exec_of(w, i);
  if (active == 0) return;
  w.current = &i;
  require(active, at, 4 * count);
  const u32 exec = lanes_within(active, at, 4 * count);
  if (exec == 0) return;
  const auto put = [&](const auto& list) {
    const AddressList to = listed(addresses(at));
    for_active_lanes(exec, [&](int lane) {
      std::memcpy(reinterpret_cast<void*>(to.lane[lane]), &list.lane[lane], 4 * count);
    });
  };
  if constexpr (count == 1) {
    const U32& row = source_row(w, data, 0);
    if (__builtin_popcount(exec) <= few_lanes) {
      put(reinterpret_cast<const Row&>(row));
    } else if (std::byte* to = in_sequence(at, exec, 4)) {
      store_sequence(row, exec, to);
    } else {
      put(reinterpret_cast<const Row&>(row));
    }
  } else if constexpr (count == 2) {
    const U64 pairs = join(source_row(w, data, 0), source_row(w, data, 1));
    std::byte* to = exec == ~0U ? in_sequence(at, exec, 8) : nullptr;
    if (to != nullptr) {
      std::memcpy(to, &pairs, sizeof pairs);
    } else {
      put(listed(pairs));
    }
  } else {
    U32 rows[4] = {};
    for (int k = 0; k < count; ++k) rows[k] = source_row(w, data, k);
    put(lane_quads(rows));
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
  require(exec, at, sizeof(Memory));
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
  const auto from = listed(addresses(at));
  auto& target = reinterpret_cast<Row&>(row);
  for_active_lanes(exec, [&](int lane) {
    Memory value;
    std::memcpy(&value, reinterpret_cast<const void*>(from.lane[lane]), sizeof value);
    const u32 bits = static_cast<u32>(static_cast<Register>(value));
    u32& old = target.lane[lane];
    if (part == Part::whole) old = bits;
    if (part == Part::low) old = (old & 0xFFFF'0000U) | (bits & 0xFFFFU);
    if (part == Part::high) old = (old & 0xFFFFU) | bits << 16;
  });
}

template <class Memory, Part part, class At>
ALWAYS_INLINE void store_small(Wave& w, const Instruction& i, const Operand& data, const At& at) {
  using MemoryLanes = Memory __attribute__((ext_vector_type(32)));
  const u32 active = exec_of(w, i);
  if (active == 0) return;
  w.current = &i;
  require(active, at, sizeof(Memory));
  const u32 exec = lanes_within(active, at, sizeof(Memory));
  U32 row = source_row(w, data, 0);
  if (part == Part::high) row >>= 16;
  const MemoryLanes values = convert<MemoryLanes>(row);
  if (exec == ~0U) {
    if (std::byte* to = in_sequence(at, exec, sizeof(Memory))) {
      std::memcpy(to, &values, sizeof values);
      return;
    }
  }
  struct Values {
    Memory lane[lanes];
  };
  const auto from = bits_as<Values>(values);
  const auto to = listed(addresses(at));
  for_active_lanes(exec, [&](int lane) {
    std::memcpy(reinterpret_cast<void*>(to.lane[lane]), &from.lane[lane], sizeof(Memory));
  });
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
