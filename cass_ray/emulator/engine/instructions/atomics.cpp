// Atomic operations on global memory, flat addresses and LDS (RDNA3 ISA, 16.14 DS, 16.15 FLAT).
#include "buffer_address.hpp"
#include "lds_address.hpp"
#include "memory_address.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;

template <class T>
struct AsFloat;
template <>
struct AsFloat<u32> {
  using type = float;
};
template <>
struct AsFloat<u64> {
  using type = double;
};
template <class T>
ALWAYS_INLINE typename AsFloat<T>::type floating(T bits) {
  return __builtin_bit_cast(typename AsFloat<T>::type, bits);
}
template <class T>
ALWAYS_INLINE T bits_of(typename AsFloat<T>::type value) {
  return __builtin_bit_cast(T, value);
}

// What memory gets: `old` was there, `data` is the operand, `compare` the second one.
#define RULE(name, expression)                                         \
  struct name {                                                        \
    template <class T>                                                 \
    static ALWAYS_INLINE_METHOD T next([[maybe_unused]] T old, T data, \
                                       [[maybe_unused]] T compare) {   \
      return (expression);                                             \
    }                                                                  \
  };
#define ALWAYS_INLINE_METHOD inline __attribute__((always_inline))
template <class T>
struct SignedOf;
template <>
struct SignedOf<u32> {
  using type = i32;
};
template <>
struct SignedOf<u64> {
  using type = i64;
};
template <class T>
ALWAYS_INLINE typename SignedOf<T>::type as_signed(T value) {
  return static_cast<typename SignedOf<T>::type>(value);
}

RULE(Add, old + data)
RULE(Subtract, old - data)
RULE(ReverseSubtract, data - old)
RULE(ClampedSubtract, old < data ? 0 : old - data)
RULE(ConditionalSubtract, old >= data ? old - data : old)
RULE(And, old& data)
RULE(Or, old | data)
RULE(Xor, old ^ data)
RULE(MaskedOr, (old & ~data) | compare)
RULE(Swap, data)
RULE(Increment, old >= data ? 0 : old + 1)
RULE(Decrement, old == 0 || old > data ? data : old - 1)
RULE(WrapSubtract, old >= data ? old - data : old + compare)
RULE(UnsignedMinimum, data < old ? data : old)
RULE(UnsignedMaximum, data > old ? data : old)
RULE(SignedMinimum, as_signed(data) < as_signed(old) ? data : old)
RULE(SignedMaximum, as_signed(data) > as_signed(old) ? data : old)
RULE(CompareSwap, old == compare ? data : old)
RULE(CompareSwapFloat, floating(old) == floating(compare) ? data : old)
RULE(AddFloat, bits_of<T>(floating(old) + floating(data)))

// Two numbers of 16 bits in a dword, each rounded to nearest even.
ALWAYS_INLINE u32 add_halves(u32 a, u32 b) {
  u32 result = 0;
  for (unsigned shift = 0; shift < 32; shift += 16) {
    const auto half = [shift](u32 both) {
      return static_cast<float>(__builtin_bit_cast(_Float16, static_cast<u16>(both >> shift)));
    };
    const auto sum = static_cast<_Float16>(half(a) + half(b));
    result |= u32{__builtin_bit_cast(u16, sum)} << shift;
  }
  return result;
}
ALWAYS_INLINE u32 add_bfloats(u32 a, u32 b) {
  u32 result = 0;
  for (unsigned shift = 0; shift < 32; shift += 16) {
    const float sum = floating<u32>(a >> shift << 16) + floating<u32>(b >> shift << 16);
    const u32 bits = bits_of<u32>(sum);
    const u32 rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
    result |= (sum != sum ? bits >> 16 | 0x40U : rounded & 0xFFFF) << shift;
  }
  return result;
}
RULE(AddHalves, add_halves(old, data))
RULE(AddBfloats, add_bfloats(old, data))

// -0 < +0; a NaN loses against a number.
template <bool greatest, class T>
ALWAYS_INLINE T float_extremum(T old, T data) {
  const auto a = floating(old), b = floating(data);
  if (a != a) return data;
  if (b != b) return old;
  if (a == b) return greatest ? old & data : old | data;
  return (greatest ? a > b : a < b) ? old : data;
}
RULE(MinimumFloat, (float_extremum<false, T>(old, data)))
RULE(MaximumFloat, (float_extremum<true, T>(old, data)))

// Memory that other workgroups may use at the same time.
struct Shared {
  template <class Rule, class T>
  static ALWAYS_INLINE_METHOD T update(T* memory, T data, T compare) {
    T old = __atomic_load_n(memory, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(memory, &old, Rule::template next<T>(old, data, compare),
                                        true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return old;
  }
};
template <>
ALWAYS_INLINE_METHOD u32 Shared::update<Add, u32>(u32* memory, u32 data, u32) {
  return __atomic_fetch_add(memory, data, __ATOMIC_SEQ_CST);
}
template <>
ALWAYS_INLINE_METHOD u64 Shared::update<Add, u64>(u64* memory, u64 data, u64) {
  return __atomic_fetch_add(memory, data, __ATOMIC_SEQ_CST);
}
template <>
ALWAYS_INLINE_METHOD u32 Shared::update<Swap, u32>(u32* memory, u32 data, u32) {
  return __atomic_exchange_n(memory, data, __ATOMIC_SEQ_CST);
}
template <>
ALWAYS_INLINE_METHOD u64 Shared::update<Swap, u64>(u64* memory, u64 data, u64) {
  return __atomic_exchange_n(memory, data, __ATOMIC_SEQ_CST);
}

// LDS: one thread runs all waves of a workgroup.
struct Own {
  template <class Rule, class T>
  static ALWAYS_INLINE_METHOD T update(T* memory, T data, T compare) {
    T old;
    std::memcpy(&old, memory, sizeof old);
    const T next = Rule::template next<T>(old, data, compare);
    std::memcpy(memory, &next, sizeof next);
    return old;
  }
};

template <class T>
ALWAYS_INLINE T lane_value(Wave& w, u32 offset, int lane) {
  const u32 low = place<u32>(w, offset + 4 * static_cast<u32>(lane));
  if constexpr (sizeof(T) == 4) {
    return low;
  } else {
    return low | u64{place<u32>(w, offset + w.row_stride + 4 * static_cast<u32>(lane))} << 32;
  }
}
template <class T>
ALWAYS_INLINE void set_lane_value(Wave& w, u32 offset, int lane, T value) {
  place<u32>(w, offset + 4 * static_cast<u32>(lane)) = static_cast<u32>(value);
  if constexpr (sizeof(T) == 8) {
    place<u32>(w, offset + w.row_stride + 4 * static_cast<u32>(lane)) =
        static_cast<u32>(value >> 32);
  }
}

// Lane by lane in order. `compare_offset`: of the second operand's register from the wave.
template <class Memory, class Rule, class T, bool returns>
ALWAYS_INLINE void atomic_lanes(Wave& w, const Instruction& i, U64 address, u32 data_offset,
                                u32 compare_offset) {
  const AddressList at = listed(address);
  for_active_lanes(exec_of(w, i), [&](int lane) {
    const T data = lane_value<T>(w, data_offset, lane);
    const T compare = lane_value<T>(w, compare_offset, lane);
    const T old =
        Memory::template update<Rule, T>(reinterpret_cast<T*>(at.lane[lane]), data, compare);
    if (returns) set_lane_value<T>(w, i.destination.value, lane, old);
  });
}
template <class Memory, class Rule, class T>
ALWAYS_INLINE void atomic(Wave& w, const Instruction& i, U64 address, u32 data_offset,
                          u32 compare_offset) {
  w.current = &i;
  if ((i.flags & flag::returns) != 0) {
    atomic_lanes<Memory, Rule, T, true>(w, i, address, data_offset, compare_offset);
  } else {
    atomic_lanes<Memory, Rule, T, false>(w, i, address, data_offset, compare_offset);
  }
}

// Memory formats give both operands in consecutive registers: data, then what to compare with.
template <class Rule, class T>
ALWAYS_INLINE void memory_atomic(Wave& w, const Instruction& i, U64 address) {
  const u32 data = i.source[1].value;
  atomic<Shared, Rule, T>(w, i, address, data, data + (sizeof(T) / 4) * w.row_stride);
}
template <class Rule, class T>
ALWAYS_INLINE void memory_atomic_single(Wave& w, const Instruction& i, U64 address) {
  atomic<Shared, Rule, T>(w, i, address, i.source[1].value, i.source[1].value);
}

// Beyond the bounds nothing happens, and the result is zero.
template <class T, class Action>
ALWAYS_INLINE void buffer_atomic(Wave& w, const Instruction& i, Action action) {
  const u32 active = exec_of(w, i);
  within_bounds(w, i, sizeof(T), [&](const Contained& at) {
    action(at.address);
    const u32 outside = active & ~exec_of(w, i);
    if ((i.flags & flag::returns) == 0 || outside == 0) return;
    for (unsigned k = 0; k < sizeof(T) / 4; ++k) {
      write_row(w, outside, i.destination.value + k * w.row_stride, (U32)0U);
    }
  });
}

template <class T>
ALWAYS_INLINE U64 global_atomic_at(Wave& w, const Instruction& i) {
  const Wide at = any_global_addresses(w, i);
  w.current = &i;
  require(exec_of(w, i), at, sizeof(T));
  return at.address;
}

#define MEMORY_ATOMIC(name, Rule, T, action)                                             \
  OPERATION(global_atomic_##name) { action<Rule, T>(w, i, global_atomic_at<T>(w, i)); }  \
  OPERATION(flat_atomic_##name) { action<Rule, T>(w, i, flat_addresses(w, i).address); } \
  OPERATION(buffer_atomic_##name) {                                                      \
    buffer_atomic<T>(w, i, [&](U64 at) { action<Rule, T>(w, i, at); });                  \
  }
#define GLOBAL_INTEGER(name, unsigned_suffix, Rule)                            \
  MEMORY_ATOMIC(name##_##unsigned_suffix##32, Rule, u32, memory_atomic_single) \
  MEMORY_ATOMIC(name##_##unsigned_suffix##64, Rule, u64, memory_atomic_single)
GLOBAL_INTEGER(add, u, Add)
GLOBAL_INTEGER(sub, u, Subtract)
GLOBAL_INTEGER(and, b, And)
GLOBAL_INTEGER(or, b, Or)
GLOBAL_INTEGER(xor, b, Xor)
GLOBAL_INTEGER(swap, b, Swap)
GLOBAL_INTEGER(inc, u, Increment)
GLOBAL_INTEGER(dec, u, Decrement)
GLOBAL_INTEGER(min, u, UnsignedMinimum)
GLOBAL_INTEGER(max, u, UnsignedMaximum)
GLOBAL_INTEGER(min, i, SignedMinimum)
GLOBAL_INTEGER(max, i, SignedMaximum)
MEMORY_ATOMIC(cmpswap_b32, CompareSwap, u32, memory_atomic)
MEMORY_ATOMIC(cmpswap_b64, CompareSwap, u64, memory_atomic)
MEMORY_ATOMIC(cmpswap_f32, CompareSwapFloat, u32, memory_atomic)
MEMORY_ATOMIC(add_f32, AddFloat, u32, memory_atomic_single)
MEMORY_ATOMIC(min_f32, MinimumFloat, u32, memory_atomic_single)
MEMORY_ATOMIC(max_f32, MaximumFloat, u32, memory_atomic_single)
// gfx9
MEMORY_ATOMIC(add_f64, AddFloat, u64, memory_atomic_single)
MEMORY_ATOMIC(min_f64, MinimumFloat, u64, memory_atomic_single)
MEMORY_ATOMIC(max_f64, MaximumFloat, u64, memory_atomic_single)
MEMORY_ATOMIC(pk_add_f16, AddHalves, u32, memory_atomic_single)
OPERATION(global_atomic_pk_add_bf16) {
  memory_atomic_single<AddBfloats, u32>(w, i, global_atomic_at<u32>(w, i));
}
OPERATION(flat_atomic_pk_add_bf16) {
  memory_atomic_single<AddBfloats, u32>(w, i, flat_addresses(w, i).address);
}
OPERATION(buffer_atomic_pk_add_bf16) {
  buffer_atomic<u32>(w, i, [&](U64 at) { memory_atomic_single<AddBfloats, u32>(w, i, at); });
}
// gfx12
MEMORY_ATOMIC(cond_sub_u32, ConditionalSubtract, u32, memory_atomic_single)
OPERATION(flat_atomic_csub_u32) {
  memory_atomic_single<ClampedSubtract, u32>(w, i, flat_addresses(w, i).address);
}
OPERATION(buffer_atomic_csub_u32) {
  buffer_atomic<u32>(w, i, [&](U64 at) { memory_atomic_single<ClampedSubtract, u32>(w, i, at); });
}
OPERATION(global_atomic_csub_u32) {
  memory_atomic_single<ClampedSubtract, u32>(w, i, global_atomic_at<u32>(w, i));
}

// ---- LDS: operands in data 0 and data 1

// `action` on addresses in LDS, with EXEC narrowed to those of the workgroup; the others' result is
// 0.
template <class T, class Action>
ALWAYS_INLINE void within_lds(Wave& w, const Instruction& i, Action action) {
  const GroupLocal at = lds_at(w, i);
  const u32 active = exec_of(w, i), inside = lanes_within(active, at, sizeof(T));
  u32& exec = w.scalar[scalar::exec + i.half];
  const bool all = __builtin_expect(inside == active, 1);
  if (!all) exec = inside;
  if (inside != 0) action(addresses(at));  // one call, which is inlined
  if (all) return;
  exec = active;
  if ((i.flags & flag::returns) == 0) return;
  for (unsigned k = 0; k < sizeof(T) / 4; ++k) {
    write_row(w, active & ~inside, i.destination.value + k * w.row_stride, (U32)0U);
  }
}
template <class Rule, class T>
ALWAYS_INLINE void lds_atomic(Wave& w, const Instruction& i) {
  within_lds<T>(w, i, [&](U64 address) {
    atomic<Own, Rule, T>(w, i, address, i.source[1].value, i.source[1].value);
  });
}
// The first operand is `data`, the second `compare`.
template <class Rule, class T>
ALWAYS_INLINE void lds_atomic_two(Wave& w, const Instruction& i) {
  within_lds<T>(w, i, [&](U64 address) {
    atomic<Own, Rule, T>(w, i, address, i.source[1].value, i.source[2].value);
  });
}

#define LDS_ATOMIC(name, suffix, Rule, T, action)            \
  OPERATION(ds_##name##_##suffix) { action<Rule, T>(w, i); } \
  OPERATION(ds_##name##_rtn_##suffix) { action<Rule, T>(w, i); }
#define LDS_BOTH(name, letter, Rule, action)      \
  LDS_ATOMIC(name, letter##32, Rule, u32, action) \
  LDS_ATOMIC(name, letter##64, Rule, u64, action)
LDS_BOTH(add, u, Add, lds_atomic)
LDS_ATOMIC(add, f64, AddFloat, u64, lds_atomic)
LDS_ATOMIC(pk_add, f16, AddHalves, u32, lds_atomic)
LDS_ATOMIC(pk_add, bf16, AddBfloats, u32, lds_atomic)
LDS_BOTH(sub, u, Subtract, lds_atomic)
LDS_BOTH(rsub, u, ReverseSubtract, lds_atomic)
LDS_BOTH(inc, u, Increment, lds_atomic)
LDS_BOTH(dec, u, Decrement, lds_atomic)
LDS_BOTH(min, i, SignedMinimum, lds_atomic)
LDS_BOTH(max, i, SignedMaximum, lds_atomic)
LDS_BOTH(min, u, UnsignedMinimum, lds_atomic)
LDS_BOTH(max, u, UnsignedMaximum, lds_atomic)
LDS_BOTH(and, b, And, lds_atomic)
LDS_BOTH(or, b, Or, lds_atomic)
LDS_BOTH(xor, b, Xor, lds_atomic)
LDS_BOTH(mskor, b, MaskedOr, lds_atomic_two)
LDS_BOTH(cmpstore, b, CompareSwap, lds_atomic_two)
LDS_BOTH(cmpstore, f, CompareSwapFloat, lds_atomic_two)
LDS_BOTH(min, f, MinimumFloat, lds_atomic)
LDS_BOTH(max, f, MaximumFloat, lds_atomic)
LDS_ATOMIC(add, f32, AddFloat, u32, lds_atomic)
LDS_ATOMIC(csub, u32, ClampedSubtract, u32, lds_atomic)
LDS_ATOMIC(cond_sub, u32, ConditionalSubtract, u32, lds_atomic)
OPERATION(ds_storexchg_rtn_b32) { lds_atomic<Swap, u32>(w, i); }
OPERATION(ds_storexchg_rtn_b64) { lds_atomic<Swap, u64>(w, i); }
OPERATION(ds_wrap_rtn_b32) { lds_atomic_two<WrapSubtract, u32>(w, i); }

// Two exchanges: offsets in units of the element, or of 64 elements.
template <class T, u32 unit>
ALWAYS_INLINE void exchange_two(Wave& w, const Instruction& i) {
  w.current = &i;
  const u32 offsets[] = {static_cast<u32>(i.immediate & 0xFF) * unit,
                         static_cast<u32>(i.immediate >> 8 & 0xFF) * unit};
  const U32 address = lds_at(w, i, 0).offset;
  const auto& base = reinterpret_cast<const Row&>(address);
  for (u32 rest = exec_of(w, i); rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    T old[2] = {};
    for (int k = 0; k < 2; ++k) {
      const u32 at = base.lane[lane] + offsets[k];
      if (!lds_holds(w, at, sizeof(T))) continue;
      const T data = lane_value<T>(w, i.source[1 + k].value, lane);
      old[k] = Own::update<Swap, T>(reinterpret_cast<T*>(w.lds + at), data, data);
    }
    set_lane_value<T>(w, i.destination.value, lane, old[0]);
    set_lane_value<T>(w, i.destination.value + (sizeof(T) / 4) * w.row_stride, lane, old[1]);
  }
}
OPERATION(ds_storexchg_2addr_rtn_b32) { exchange_two<u32, 4>(w, i); }
OPERATION(ds_storexchg_2addr_rtn_b64) { exchange_two<u64, 8>(w, i); }
OPERATION(ds_storexchg_2addr_stride64_rtn_b32) { exchange_two<u32, 4 * 64>(w, i); }
OPERATION(ds_storexchg_2addr_stride64_rtn_b64) { exchange_two<u64, 8 * 64>(w, i); }

// A bit of the compared value says whether its 32-bit half is stored.
OPERATION(ds_condxchg32_rtn_b64) {
  struct Rule {
    static ALWAYS_INLINE_METHOD u32 half(u32 old, u32 data) {
      return (data >> 31) != 0 ? (data & 0x7FFF'FFFFU) : old;
    }
  };
  struct List {
    alignas(64) u64 lane[lanes];
  };
  within_lds<u64>(w, i, [&](U64 address) {
    const auto at = bits_as<List>(address);
    w.current = &i;
    for (u32 rest = exec_of(w, i); rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const u64 data = lane_value<u64>(w, i.source[1].value, lane);
      auto* memory = reinterpret_cast<u64*>(at.lane[lane]);
      u64 old;
      std::memcpy(&old, memory, sizeof old);
      const u64 next = Rule::half(static_cast<u32>(old), static_cast<u32>(data)) |
                       u64{Rule::half(static_cast<u32>(old >> 32), static_cast<u32>(data >> 32))}
                           << 32;
      std::memcpy(memory, &next, sizeof next);
      set_lane_value<u64>(w, i.destination.value, lane, old);
    }
  });
}

// A counter in LDS moves by the number of active lanes; all get its old value. M0's high half is
// the base (RDNA3 ISA, DS_APPEND).
template <int direction>
ALWAYS_INLINE void count_lanes(Wave& w, const Instruction& i) {
  int active = __builtin_popcount(w.scalar[scalar::exec]);
  if (w.wide) active += __builtin_popcount(w.scalar[scalar::exec + 1]);
  const u32 at = (w.scalar[scalar::m0] >> 16) + static_cast<u32>(i.immediate);
  w.current = &i;
  u32 old = 0;
  if (lds_holds(w, at, sizeof old)) {
    u32* counter = reinterpret_cast<u32*>(w.lds + at);
    old = *counter;
    *counter = old + static_cast<u32>(direction * active);
  }
  for (unsigned half = 0; half < (w.wide ? 2U : 1U); ++half) {
    write_row(w, w.scalar[scalar::exec + half],
              i.destination.value + half * static_cast<u32>(sizeof(Row)), (U32)old);
  }
}
OPERATION(ds_append) { count_lanes<1>(w, i); }
OPERATION(ds_consume) { count_lanes<-1>(w, i); }

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
