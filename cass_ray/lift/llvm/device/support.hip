// What CUDA's driver provides to device code, over AMD's device library, and barriers of some of
// the warps of a block, which AMD's hardware does not have.
//
// Lifted code calls these functions by name. Their arguments are as Nvidia's calling convention
// has them: 64-bit generic addresses.

#include <stdint.h>

extern "C" {
__device__ uint64_t __ockl_printf_begin(uint64_t version);
__device__ uint64_t __ockl_printf_append_args(uint64_t message, uint32_t count, uint64_t, uint64_t,
                                              uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                              uint32_t is_last);
__device__ uint64_t __ockl_printf_append_string_n(uint64_t message, const char *text,
                                                  uint64_t length, uint32_t is_last);
__device__ uint64_t __ockl_fprintf_stderr_begin();
__device__ uint64_t __ockl_fprintf_append_args(uint64_t message, uint32_t count, uint64_t, uint64_t,
                                               uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                               uint32_t is_last);
__device__ uint64_t __ockl_fprintf_append_string_n(uint64_t message, const char *text,
                                                   uint64_t length, uint32_t is_last);
__device__ uint64_t __ockl_dm_alloc(uint64_t size);
__device__ void __ockl_dm_dealloc(uint64_t address);
}

namespace {

// With a wait of its own where clang 19 loses the fence's: as in lowering/fences.py.
__device__ void release() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
#ifdef __GFX9__
  __builtin_amdgcn_s_waitcnt(0xC07F);
#endif
}

// One conversion of a format: what it takes from the arguments.
enum class Kind { none, word, wide, text };

__device__ bool is_flag(char c) {
  return c == '-' || c == '+' || c == ' ' || c == '#' || c == '0' || c == '.' ||
         (c >= '1' && c <= '9');
}

// Moves `at` past the conversion whose '%' it has just passed. `stars` is the number of widths and
// precisions that are arguments of their own.
__device__ Kind conversion(const char *&at, int &stars) {
  stars = 0;
  while (is_flag(*at) || *at == '*') {
    stars += *at == '*';
    ++at;
  }
  bool wide = false;
  while (*at == 'l' || *at == 'h' || *at == 'j' || *at == 'z' || *at == 't' || *at == 'q') {
    wide |= *at != 'h';
    ++at;
  }
  const char type = *at;
  if (type == 0) return Kind::none;
  ++at;
  switch (type) {
    case 's': return Kind::text;
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
    case 'c': return wide ? Kind::wide : Kind::word;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
    case 'p': return Kind::wide;
    default: return Kind::none;
  }
}

__device__ uint32_t argument_count(const char *format) {
  uint32_t count = 0;
  for (const char *at = format; *at != 0;) {
    if (*at++ != '%') continue;
    int stars;
    const Kind kind = conversion(at, stars);
    count += stars + (kind != Kind::none);
  }
  return count;
}

__device__ uint64_t length_with_end(const char *text) {
  uint64_t length = 0;
  while (text[length++] != 0) {
  }
  return length;
}

// Arguments lie one after the other, each aligned to its size.
struct Reader {
  uint64_t address;

  __device__ uint64_t word() {
    const uint64_t value = *reinterpret_cast<const uint32_t *>(address);
    address += 4;
    return value;
  }

  __device__ uint64_t wide() {
    address = (address + 7) & ~7ULL;
    const uint64_t value = *reinterpret_cast<const uint64_t *>(address);
    address += 8;
    return value;
  }
};

}  // namespace

// The parts of a message. Not inlined: each is some hundred instructions, and a kernel may print in
// many places.
#define PRINTING extern "C" __device__ __attribute__((noinline)) uint64_t

PRINTING __cass_print_begin() { return __ockl_printf_begin(0); }

// `length` includes the end of the text.
PRINTING __cass_print_format(uint64_t message, uint64_t address, uint64_t length,
                             uint32_t is_last) {
  const char *text = reinterpret_cast<const char *>(address);
  return __ockl_printf_append_string_n(message, text, length, is_last);
}

PRINTING __cass_print_text(uint64_t message, uint64_t address, uint32_t is_last) {
  const char *text = address == 0 ? "(null)" : reinterpret_cast<const char *>(address);
  const uint64_t length = length_with_end(text);
  return __ockl_printf_append_string_n(message, text, length, is_last);
}

PRINTING __cass_print_values(uint64_t message, uint32_t count, uint64_t v0, uint64_t v1,
                             uint64_t v2, uint64_t v3, uint64_t v4, uint64_t v5, uint64_t v6,
                             uint32_t is_last) {
  return __ockl_printf_append_args(message, count, v0, v1, v2, v3, v4, v5, v6, is_last);
}

namespace {

__device__ uint64_t append(uint64_t message, uint64_t value, uint32_t is_last) {
  return __cass_print_values(message, 1, value, 0, 0, 0, 0, 0, 0, is_last);
}

}  // namespace

// Gives the number of arguments, as CUDA's vprintf does.
extern "C" __device__ uint32_t __cass_vprintf(uint64_t format_address, uint64_t arguments) {
  const char *format = reinterpret_cast<const char *>(format_address);
  const uint32_t count = argument_count(format);
  uint32_t left = count;
  uint64_t message = __cass_print_begin();
  message = __cass_print_format(message, format_address, length_with_end(format), left == 0);
  Reader reader{arguments};
  for (const char *at = format; *at != 0;) {
    if (*at++ != '%') continue;
    int stars;
    const Kind kind = conversion(at, stars);
    for (; stars > 0; --stars) message = append(message, reader.word(), --left == 0);
    if (kind == Kind::word) {
      message = append(message, reader.word(), --left == 0);
    } else if (kind == Kind::wide) {
      message = append(message, reader.wide(), --left == 0);
    } else if (kind == Kind::text) {
      message = __cass_print_text(message, reader.wide(), --left == 0);
    }
  }
  return count;
}

namespace {

__device__ uint64_t append_error(uint64_t message, const char *text, uint32_t is_last = 0) {
  return __ockl_fprintf_append_string_n(message, text, length_with_end(text), is_last);
}

}  // namespace

// The line that CUDA prints of a failed assertion; the caller then ends the program.
extern "C" __device__ __attribute__((noinline)) void __cass_assertion_failed(
    const char *assertion, const char *file, uint32_t line, const char *function, uint32_t block_x,
    uint32_t block_y, uint32_t block_z, uint32_t thread_x, uint32_t thread_y, uint32_t thread_z) {
  const char *format = "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n";
  uint64_t message = append_error(__ockl_fprintf_stderr_begin(), format);
  message = append_error(message, file);
  message = __ockl_fprintf_append_args(message, 1, line, 0, 0, 0, 0, 0, 0, 0);
  message = append_error(message, function);
  message = __ockl_fprintf_append_args(message, 6, block_x, block_y, block_z, thread_x, thread_y,
                                       thread_z, 0, 0);
  append_error(message, assertion, 1);
  __builtin_trap();  // here, where its runtime can tell it from a kernel's own
}

extern "C" __device__ uint64_t __cass_malloc(uint64_t size) { return __ockl_dm_alloc(size); }

extern "C" __device__ void __cass_free(uint64_t address) { __ockl_dm_dealloc(address); }

namespace {

constexpr uint32_t barriers = 24;  // 16 with numbers, 8 of warpgroups

// A barrier in shared memory, changed at once. Bits 0 to 15: threads that have come to it; 16 to
// 30: those of them that a reduction counts; from 32 on: how often all had come. Bit 31: the result
// of a reduction is being fetched, by as many threads as the low bits say, before which nobody else
// comes.
using Barrier = uint64_t __attribute__((address_space(3)));
using BarrierWord = uint32_t __attribute__((address_space(3)));

constexpr uint32_t thread_bits = 0xFFFF, fetching = 1u << 31;
constexpr int counted_shift = 16, round_shift = 32;

__device__ Barrier *barrier_at(uint32_t place, uint32_t number) {
  return (Barrier *)(place + 8 * (number % barriers));
}

__device__ uint32_t round_of(Barrier *barrier) {
  return __atomic_load_n((BarrierWord *)barrier + 1, __ATOMIC_RELAXED);
}

__device__ bool is_first_lane() {
  const uint32_t below = __builtin_amdgcn_mbcnt_lo(__builtin_amdgcn_read_exec_lo(), 0);
#if __AMDGCN_WAVEFRONT_SIZE == 64
  return __builtin_amdgcn_mbcnt_hi(__builtin_amdgcn_read_exec_hi(), below) == 0;
#else
  return below == 0;
#endif
}

// The active lanes for which it is true, a bit each, and how many they are.
__device__ uint64_t lanes_where(bool condition) {
#if __AMDGCN_WAVEFRONT_SIZE == 64
  return __builtin_amdgcn_ballot_w64(condition);
#else
  return __builtin_amdgcn_ballot_w32(condition);
#endif
}

__device__ uint32_t count_where(bool condition) {
  return __builtin_popcountll(lanes_where(condition));
}

// One warp more is at a barrier of `threads` threads, `counted` of its own for a reduction; the
// last one begins the next round. False where it has to wait until a result has been fetched; else
// `round` is the one that it belongs to.
__device__ bool arrive(Barrier *barrier, uint32_t threads, uint32_t counted, bool reduces,
                       uint32_t &round) {
  uint64_t seen = __atomic_load_n(barrier, __ATOMIC_RELAXED), next;
  do {
    if (seen & fetching) return false;
    round = seen >> round_shift;
    uint32_t now = (uint32_t)seen + 32 + (counted << counted_shift);
    const bool is_last = (now & thread_bits) >= threads;
    if (is_last) now = reduces ? now | fetching : 0;
    next = (uint64_t)(round + is_last) << round_shift | now;
  } while (!__atomic_compare_exchange_n(barrier, &seen, next, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  return true;
}

__device__ bool is_among(uint32_t numbers, uint32_t number) {
  return number < 32 && (numbers >> number & 1);
}

// How many threads a reduction counted; one warp more knows it.
__device__ uint32_t fetch(Barrier *barrier) {
  const uint32_t seen = __atomic_fetch_sub(barrier, 32, __ATOMIC_RELAXED);
  if ((seen & thread_bits) == 32) __atomic_store_n((BarrierWord *)barrier, 0, __ATOMIC_RELAXED);
  return (seen & ~fetching) >> counted_shift;
}

// To a barrier and, if it `waits`, on when all have come to it; what a reduction counted.
__device__ uint32_t meet(Barrier *barrier, uint32_t threads, uint32_t counted, bool reduces,
                         bool waits) {
  uint32_t total = 0, round = 0;
  release();
  if (is_first_lane()) {
    while (!arrive(barrier, threads, counted, reduces, round)) __builtin_amdgcn_s_sleep(1);
    while (waits && round_of(barrier) == round) __builtin_amdgcn_s_sleep(1);
    if (reduces) total = fetch(barrier);
  }
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  return __builtin_amdgcn_readfirstlane(total);
}

}  // namespace

// All barriers with nobody at them, and the sets behind them empty, `bytes` of them together; every
// thread of the block calls this first.
extern "C" __device__ void __cass_barriers_begin(uint32_t place, uint32_t bytes) {
  const uint32_t ids = __builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workitem_id_y() |
                       __builtin_amdgcn_workitem_id_z();
  if (ids == 0) {
    for (uint32_t byte = 0; byte < bytes; byte += 4) {
      __atomic_store_n((BarrierWord *)(place + byte), 0, __ATOMIC_RELAXED);
    }
  }
  release();
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// The active lanes are at a barrier where lanes of their warp count as one. Those that are not
// there have ended, or LLVM runs them later: to the same barrier, at which the warp was without
// them. At `sets` is a word for each warp of those that were missing.
extern "C" __device__ void __cass_barrier_lanes(uint32_t sets, uint32_t thread) {
  const uint32_t first = __builtin_amdgcn_readfirstlane(thread);
  const uint32_t active = lanes_where(true) >> (first % __AMDGCN_WAVEFRONT_SIZE / 32 * 32);
  volatile BarrierWord *const missing = (volatile BarrierWord *)(sets + first / 32 * 4);
  const uint32_t before = *missing;
  if (before & active) __builtin_trap();  // lanes of a warp that part at a barrier
  *missing = before | ~active;
}

// How often all threads had come to a barrier.
extern "C" __device__ uint32_t __cass_barrier_round(uint32_t place, uint32_t number) {
  const uint32_t round = round_of(barrier_at(place, number));
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  return round;
}

// The active lanes, which are of one warp, are at a barrier of `threads` threads, where a reduction
// may count those of its threads in which `counted` is not 0. The round that they belong to, in 32
// bits, or -1 where they have to come again later. `forbidden` has a bit for each number that is an
// error.
extern "C" __device__ uint64_t __cass_barrier_arrive(uint32_t place, uint32_t number,
                                                     uint32_t threads, uint32_t counted,
                                                     uint32_t reduces, uint32_t forbidden) {
  if (is_among(forbidden, number)) __builtin_trap();
  const uint32_t lanes = count_where(counted != 0);
  uint32_t round = 0, arrived = 0;
  release();
  if (is_first_lane()) {
    arrived = arrive(barrier_at(place, number), threads, lanes, reduces != 0, round);
  }
  if (__builtin_amdgcn_readfirstlane(arrived) == 0) return -1;
  return (uint32_t)__builtin_amdgcn_readfirstlane(round);
}

// What the reduction counted that the active lanes, which are of one warp, have waited for.
extern "C" __device__ uint32_t __cass_barrier_result(uint32_t place, uint32_t number) {
  uint32_t total = 0;
  if (is_first_lane()) total = fetch(barrier_at(place, number));
  return __builtin_amdgcn_readfirstlane(total);
}

// A barrier of `threads` threads of the block, counted by waves of one warp; with `waits` until all
// are there; `forbidden` as above.
extern "C" __device__ void __cass_barrier(uint32_t place, uint32_t number, uint32_t threads,
                                          uint32_t waits, uint32_t forbidden) {
  if (is_among(forbidden, number)) __builtin_trap();
  meet(barrier_at(place, number), threads, 0, false, waits != 0);
}

// The same, always with waiting, and how many of the threads there have `counted` other than 0.
extern "C" __device__ uint32_t __cass_barrier_reduce(uint32_t place, uint32_t number,
                                                     uint32_t threads, uint32_t counted) {
  return meet(barrier_at(place, number), threads, count_where(counted != 0), true, true);
}
