// Reductions of many elements by one instruction (PTX: cp.reduce.async.bulk), each element by
// itself.

namespace {

// In the order of `lowering/semantics/bulk_copy.py`.
enum class Reduction { add, least, most, increment, decrement, both, either, exclusive };

// A kind of elements: `Word` is what is exchanged in memory, `reduced` combines two of them.
template <typename T>
struct Integer {
  using Word = T;
  __device__ static T reduced(Reduction how, T old, T given) {
    switch (how) {
      case Reduction::add: return old + given;
      case Reduction::least: return given < old ? given : old;
      case Reduction::most: return given > old ? given : old;
      case Reduction::increment: return old >= given ? 0 : old + 1;
      case Reduction::decrement: return old == 0 || old > given ? given : old - 1;
      case Reduction::both: return old & given;
      case Reduction::either: return old | given;
      case Reduction::exclusive: return old ^ given;
    }
    return old;
  }
};

// Sums alone. PTX says that denormal numbers count as zeros; an H100 adds them as they are, and
// gives one NaN.
struct Single {
  using Word = uint32_t;
  __device__ static Word reduced(Reduction how, Word old, Word given) {
    if (how != Reduction::add) __builtin_trap();
    const float sum = __builtin_bit_cast(float, old) + __builtin_bit_cast(float, given);
    return sum != sum ? 0x7fffffff : __builtin_bit_cast(Word, sum);
  }
};

// Sums where denormal numbers, given or found, are zeros of their sign.
struct FlushedSingle {
  using Word = uint32_t;
  __device__ static Word flushed(Word bits) {
    return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
  }
  __device__ static Word reduced(Reduction how, Word old, Word given) {
    return flushed(Single::reduced(how, flushed(old), flushed(given)));
  }
};

// Sums alone.
struct Double {
  using Word = uint64_t;
  __device__ static Word reduced(Reduction how, Word old, Word given) {
    if (how != Reduction::add) __builtin_trap();
    return __builtin_bit_cast(Word,
                              __builtin_bit_cast(double, old) + __builtin_bit_cast(double, given));
  }
};

struct HalfFormat {
  static constexpr uint16_t infinity = 0x7c00;
  __device__ static uint16_t sum(uint16_t a, uint16_t b) {
    return __builtin_bit_cast(
        uint16_t, (_Float16)(__builtin_bit_cast(_Float16, a) + __builtin_bit_cast(_Float16, b)));
  }
};

struct BrainFormat {
  static constexpr uint16_t infinity = 0x7f80;
  // A sum in single precision has more than twice the bits, so that rounding it again is harmless.
  __device__ static uint16_t sum(uint16_t a, uint16_t b) {
    const float wide =
        __builtin_bit_cast(float, (uint32_t)a << 16) + __builtin_bit_cast(float, (uint32_t)b << 16);
    if (wide != wide) return 0x7fff;
    const uint32_t bits = __builtin_bit_cast(uint32_t, wide);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

// 16 bits. The lesser and the greater number are PTX's min and max: -0 is less than 0, and a number
// goes before what is none.
template <typename Format>
struct Short {
  using Word = uint16_t;
  __device__ static bool is_number(Word bits) { return (bits & 0x7fff) <= Format::infinity; }
  __device__ static bool is_less(Word a, Word b) {
    const auto ordered = [](Word bits) { return bits & 0x8000 ? 0x7fff - bits : (int)bits; };
    return ordered(a) < ordered(b);
  }
  __device__ static Word reduced(Reduction how, Word old, Word given) {
    if (how == Reduction::add) return Format::sum(old, given);
    if (how != Reduction::least && how != Reduction::most) __builtin_trap();
    if (!is_number(given)) return is_number(old) ? old : 0x7fff;
    if (!is_number(old)) return given;
    return is_less(given, old) == (how == Reduction::least) ? given : old;
  }
};

template <typename Kind>
__device__ void reduce_word(typename Kind::Word *to, typename Kind::Word given, Reduction how) {
  typename Kind::Word seen = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(to, &seen, Kind::reduced(how, seen, given), false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

template <typename Kind>
__device__ void reduce_each(uint64_t target, uint32_t place, uint32_t bytes, Reduction how) {
  using Word = typename Kind::Word;
  using SharedWord = Word __attribute__((address_space(3)));
  const SharedWord *const from = (const SharedWord *)place;
  Word *const to = reinterpret_cast<Word *>(target);
  for (uint32_t n = 0; n < bytes / sizeof(Word); ++n) reduce_word<Kind>(to + n, from[n], how);
}

}  // namespace

// Reduces elements of shared memory into memory at a generic address. `kind` is a place in
// `lowering/semantics/bulk_copy.py`'s list.
extern "C" __device__ void __cass_bulk_reduce(uint64_t target, uint32_t place, uint32_t bytes,
                                              uint32_t how, uint32_t kind) {
  const Reduction chosen = static_cast<Reduction>(how);
  switch (kind) {
    case 0: return reduce_each<Integer<uint32_t>>(target, place, bytes, chosen);
    case 1: return reduce_each<Integer<int32_t>>(target, place, bytes, chosen);
    case 2: return reduce_each<Integer<uint64_t>>(target, place, bytes, chosen);
    case 3: return reduce_each<Integer<int64_t>>(target, place, bytes, chosen);
    case 4: return reduce_each<Single>(target, place, bytes, chosen);
    case 5: return reduce_each<Double>(target, place, bytes, chosen);
    case 6: return reduce_each<Short<HalfFormat>>(target, place, bytes, chosen);
    case 7: return reduce_each<Short<BrainFormat>>(target, place, bytes, chosen);
    default: __builtin_trap();
  }
}
