#ifndef CASS_LANE
#define CASS_LANE
#if defined(__HIPCC__)
// The lane of a CUDA warp, 0 to 31.
namespace cass {
__device__ inline unsigned int lane() {
#ifdef __HIP_PLATFORM_NVIDIA__
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31u;
#else
    return __lane_id() & 31u;
#endif
}
}  // namespace cass
#endif
#endif
