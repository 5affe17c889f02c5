// cooperative_groups::reduce and its operators, as <cooperative_groups/reduce.h> of CUDA has them,
// for tiles and coalesced groups.
#pragma once

#include <hip/hip_cooperative_groups.h>

namespace cooperative_groups {

#define CASS_OPERATOR(NAME, EXPRESSION)                              \
  template <typename T>                                              \
  struct NAME {                                                      \
    __device__ T operator()(T a, T b) const { return EXPRESSION; }   \
  };
CASS_OPERATOR(plus, a + b)
CASS_OPERATOR(less, b < a ? b : a)
CASS_OPERATOR(greater, a < b ? b : a)
CASS_OPERATOR(bit_and, a & b)
CASS_OPERATOR(bit_or, a | b)
CASS_OPERATOR(bit_xor, a ^ b)
#undef CASS_OPERATOR

// A butterfly: each step folds in the lane that differs in one bit; all lanes get the result.
template <unsigned int size, typename Parent, typename T, typename Operation>
__device__ inline T reduce(const thread_block_tile<size, Parent>& tile, T value,
                           Operation operation) {
  for (unsigned int bit = size / 2; bit > 0; bit /= 2) {
    value = operation(value, tile.shfl_xor(value, bit));
  }
  return value;
}

template <typename T, typename Operation>
__device__ inline T reduce(const coalesced_group& group, T value, Operation operation) {
  T result = group.shfl(value, 0);
  for (unsigned int rank = 1; rank < group.size(); ++rank) {
    result = operation(result, group.shfl(value, rank));
  }
  return result;
}

}  // namespace cooperative_groups
