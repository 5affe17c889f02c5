#ifndef CASS_AVERAGE
#define CASS_AVERAGE
// Averages of integers without overflow. HIP's own of these names lose the carry
// (hip/amd_detail/amd_device_functions.h).
namespace cass {
__device__ inline unsigned int uhadd(unsigned int a, unsigned int b) { return (a & b) + ((a ^ b) >> 1); }
__device__ inline unsigned int urhadd(unsigned int a, unsigned int b) { return (a | b) - ((a ^ b) >> 1); }
__device__ inline int rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
}  // namespace cass
#endif
