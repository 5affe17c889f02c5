// Barrier objects in shared memory (PTX: mbarrier), 64 bits each.
//
// sm_80 to sm_89, as ptxas' code writes and reads them:
//   low word   2^30 - expected arrivals
//   high word  bit 31: parity of the phase; bits 0-30: 2^31 - pending arrivals
// sm_90 and later; phase, pending and expected arrivals as ptxas' code has them:
//   bit 63 parity of the phase | 43-62 2^20 - pending | 21-42 transactions | 1-20 2^20 - expected
// A phase is over when nothing is pending and no transaction is outstanding.

namespace {

using SharedWide = uint64_t __attribute__((address_space(3)));

__device__ void acquire() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); }

// Changes a barrier by `next` at once; gives what it was.
template <typename Next>
__device__ uint64_t change(uint32_t place, Next next) {
  SharedWide *const barrier = (SharedWide *)place;
  release();
  uint64_t seen = __atomic_load_n(barrier, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(barrier, &seen, next(seen), false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  acquire();
  return seen;
}

__device__ uint64_t pair(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

constexpr uint64_t arrivals_mask = (1u << 20) - 1;
constexpr uint64_t transactions_mask = (1u << 22) - 1;

}  // namespace

// One arrival, sm_80's layout. Gives the state before.
extern "C" __device__ uint64_t __cass_mbarrier_arrive_words(uint32_t place) {
  return change(place, [](uint64_t state) {
    const uint32_t low = (uint32_t)state;
    uint32_t high = (uint32_t)(state >> 32) + 1;
    if ((high & 0x7fffffff) == 0) high |= (low + 0x40000000) & 0x7fffffff;
    return pair(low, high);
  });
}

// Arrivals and transactions at once, sm_90's layout. Gives the state before. `transactions` are
// added to what is outstanding; `dropped` fewer arrivals are expected from the next phase on.
extern "C" __device__ uint64_t __cass_mbarrier_arrive(uint32_t place, uint32_t arrivals,
                                                      uint32_t transactions, uint32_t dropped) {
  return change(place, [=](uint64_t state) {
    uint64_t phase = state >> 63;
    uint64_t pending = state >> 43 & arrivals_mask;
    uint64_t outstanding = state >> 21 & transactions_mask;
    uint64_t expected = state >> 1 & arrivals_mask;
    pending = pending + arrivals & arrivals_mask;
    outstanding = outstanding + transactions & transactions_mask;
    expected = expected + dropped & arrivals_mask;
    if (pending == 0 && outstanding == 0) {
      phase ^= 1;
      pending = expected;
    }
    return phase << 63 | pending << 43 | outstanding << 21 | expected << 1;
  });
}

// One arrival at a barrier of each block of a cluster whose bit is set in `blocks`. `barrier` is
// where it is in the first block, whose LDS has `apart` bytes.
extern "C" __device__ void __cass_mbarrier_arrive_each(uint32_t barrier, uint32_t blocks,
                                                       uint32_t apart) {
  for (; blocks != 0; blocks &= blocks - 1) {
    __cass_mbarrier_arrive(barrier + __builtin_ctz(blocks) * apart, 1, 0, 0);
  }
}

// A copy of `bytes`, a multiple of 16, from global memory to shared memory.
extern "C" __device__ void __cass_bulk_load(uint32_t place, uint64_t source, uint32_t bytes) {
  SharedWide *const target = (SharedWide *)place;
  const uint64_t *const from = reinterpret_cast<const uint64_t *>(source);
  for (uint32_t n = 0; n < bytes / 8; ++n) target[n] = from[n];
}

// The same to each block of a cluster whose bit is set in `blocks`, with its barrier. `place` and
// `barrier` are where they are in the first block, whose LDS has `apart` bytes.
extern "C" __device__ void __cass_bulk_multicast(uint32_t place, uint32_t barrier, uint32_t blocks,
                                                 uint32_t apart, uint64_t source, uint32_t bytes) {
  for (; blocks != 0; blocks &= blocks - 1) {
    const uint32_t start = __builtin_ctz(blocks) * apart;
    __cass_bulk_load(place + start, source, bytes);
    __cass_mbarrier_arrive(barrier + start, 0, -bytes, 0);
  }
}

// A copy of `bytes`, a multiple of 16, from shared memory to global memory.
extern "C" __device__ void __cass_bulk_store(uint64_t target, uint32_t place, uint32_t bytes) {
  const SharedWide *const from = (const SharedWide *)place;
  uint64_t *const to = reinterpret_cast<uint64_t *>(target);
  for (uint32_t n = 0; n < bytes / 8; ++n) to[n] = from[n];
}

// A copy of `bytes`, a multiple of 16, within shared memory.
extern "C" __device__ void __cass_bulk_move(uint32_t place, uint32_t source, uint32_t bytes) {
  SharedWide *const target = (SharedWide *)place;
  const SharedWide *const from = (const SharedWide *)source;
  for (uint32_t n = 0; n < bytes / 8; ++n) target[n] = from[n];
}
