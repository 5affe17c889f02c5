#ifndef CASS_AVERAGE_OR_SUM
#define CASS_AVERAGE_OR_SUM
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <type_traits>
// CUDA's __hadd: of two ints their average, of half numbers and of pairs of them their sum. HIP's average
// loses the carry.
namespace cass {
__device__ inline int hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
template <typename T, typename = typename std::enable_if<std::is_class<T>::value>::type>
__host__ __device__ inline T hadd(T a, typename std::common_type<T>::type b) {
    return __hadd(a, b);
}
}  // namespace cass
#endif
