#ifndef CASS_HALF
#define CASS_HALF
#include <hip/hip_fp16.h>
namespace cass {
__host__ __device__ inline __half double2half(double value) {
    return __half(static_cast<_Float16>(value));
}
}  // namespace cass
#endif
