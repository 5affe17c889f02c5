// Tensor memory of blocks (PTX: tcgen05): 128 lanes of 512 columns, 32 bits each.
//
// That is four times what LDS has. So it lies in global memory, in places that blocks take when
// they allocate columns and give back with the last of them. A block's state is one word in its
// LDS: in the upper half 1 + the number of its place, in the lower a bit for each 32 columns in
// use.

namespace {
namespace tensor {

constexpr uint32_t lanes = 128, columns = 512, units = 16;
constexpr uint32_t places = 512;  // more than there are blocks at once on any card

using Word = uint32_t __attribute__((address_space(1)));

__device__ uint32_t is_taken[places];
__device__ uint32_t memories[places][columns * lanes];

// Where a word is: neighbouring lanes are neighbours.
__device__ uint32_t word_number(uint32_t lane, uint32_t column) {
  return column % columns * lanes + lane % lanes;
}

__device__ Word *memory_of(uint32_t state) {
  const uint32_t number = __atomic_load_n((BarrierWord *)state, __ATOMIC_RELAXED) >> 16;
  if (number == 0) __builtin_trap();  // tensor memory that is not allocated
  return (Word *)memories[number - 1];
}

// 1 + the number of a place that nobody has; 0 for none.
__device__ uint32_t take_place() {
  const uint32_t first = __builtin_amdgcn_workgroup_id_x();
  for (uint32_t n = 0; n < places; ++n) {
    const uint32_t number = (first + n) % places;
    uint32_t expected = 0;
    if (__hip_atomic_compare_exchange_strong(&is_taken[number], &expected, 1u, __ATOMIC_ACQUIRE,
                                             __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
      return number + 1;
    }
  }
  return 0;
}

__device__ void give_place_back(uint32_t number) {
  __hip_atomic_store(&is_taken[number - 1], 0u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

// Marks units as used in a block's state; false where one is, or where there is no place.
__device__ bool use(uint32_t state, uint32_t wanted) {
  BarrierWord *const word = (BarrierWord *)state;
  uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED), taken = 0, next;
  do {
    if (seen & wanted) break;
    if (seen == 0 && taken == 0) {
      taken = take_place();
      if (taken == 0) return false;
    }
    next = (seen == 0 ? taken << 16 : seen) | wanted;
    if (__atomic_compare_exchange_n(word, &seen, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      if (taken != 0 && seen != 0) give_place_back(taken);
      return true;
    }
  } while (true);
  if (taken != 0) give_place_back(taken);
  return false;
}

__device__ void free_units(uint32_t state, uint32_t kept) {
  BarrierWord *const word = (BarrierWord *)state;
  uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED), next;
  do {
    next = seen & (kept | 0xffff0000);
    if ((next & 0xffff) == 0) next = 0;
  } while (
      !__atomic_compare_exchange_n(word, &seen, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  if (next == 0 && seen != 0) give_place_back(seen >> 16);
}

}  // namespace tensor
}  // namespace

// What a block's shared memory has at first, for the thread that is its first: nothing is
// allocated. `partition` is what sm_100 reserves for allocations, as ptxas' code reads it: a
// barrier object by which two blocks tell each other of theirs (8), whose turn it is (16: the even
// block's), columns in use (20), where allocations begin (24), and whether there may be more of
// them (28).
extern "C" __device__ void __cass_tensor_begin(uint32_t state, uint32_t partition, uint32_t rank,
                                               uint32_t thread) {
  if (thread == 0) {
    BarrierWord *const words = (BarrierWord *)partition;
    for (uint32_t n = 0; n < 8; ++n) words[n] = 0;
    constexpr uint64_t one_less = (1u << 20) - 1;
    *(SharedWide *)(partition + 8) = one_less << 43 | one_less << 1;
    words[4] = rank % 2 == 0;
    *(BarrierWord *)state = 0;
  }
  release();
  __builtin_amdgcn_s_barrier();
  acquire();
}

// Allocates `count` units, aligned as that number is, in one block or in two that have the same
// free. In the upper half of the result whether it did, in the lower one the first unit.
extern "C" __device__ uint64_t __cass_tensor_allocate(uint32_t state, uint32_t other,
                                                      uint32_t count) {
  if (count == 0 || count > tensor::units) return 0;
  const uint32_t run = (1u << count) - 1;
  for (uint32_t first = 0; first + count <= tensor::units; first += count) {
    if (!tensor::use(state, run << first)) continue;
    if (other == state || tensor::use(other, run << first)) return 1ull << 32 | first;
    tensor::free_units(state, ~(run << first));
  }
  return 0;
}

extern "C" __device__ void __cass_tensor_free(uint32_t state, uint32_t kept) {
  release();
  tensor::free_units(state, kept);
}

// Where the tensor memory of a block begins.
extern "C" __device__ uint64_t __cass_tensor_memory(uint32_t state) {
  return (uint64_t)tensor::memory_of(state);
}

// Copies of a matrix in shared memory: `rows` of `chunks` times 16 bytes, to lanes from that of the
// address on. `copies` is how often each row is there, every `apart` lanes; rows beyond the first
// `apart` (where that is less than `rows`) come behind all copies of those before.
extern "C" __device__ void __cass_tensor_copy(uint32_t state, uint32_t address, uint64_t matrix,
                                              uint32_t shift, uint32_t rows, uint32_t chunks,
                                              uint32_t copies, uint32_t apart) {
  tensor::Word *const memory = tensor::memory_of(state);
  const Matrix from(matrix, false, shift, true);
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
      const Chunk found = from.chunk(row, chunk);
      for (uint32_t copy = 0; copy < copies; ++copy) {
        const uint32_t lane =
            (address >> 16) + row / apart * apart * copies + row % apart + copy * apart;
        for (uint32_t n = 0; n < 4; ++n) {
          memory[tensor::word_number(lane, address + 4 * chunk + n)] = found[n];
        }
      }
    }
  }
}
