#ifndef CASS_BLOCK_REDUCTIONS
#define CASS_BLOCK_REDUCTIONS
#if defined(__HIPCC__)
// Reductions over a block at a barrier. Threads that have ended are not waited for and count as nothing;
// HIP's own are wrong where the first thread of the block or of a wavefront is one of them.
namespace cass {
__device__ inline int syncthreads_count(int predicate) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __syncthreads_count(predicate);
#else
    __shared__ int count;
    // By every thread, as no single one is known to be there.
    __hip_atomic_store(&count, 0, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __syncthreads();
    const unsigned long long counted = __ballot64(predicate);
    // The first lane that counts adds for its wavefront.
    if (predicate && __lane_id() == static_cast<unsigned int>(__ffsll(counted)) - 1) atomicAdd(&count, __popcll(counted));
    __syncthreads();
    const int result = count;
    __syncthreads();  // The next call may clear it.
    return result;
#endif
}
__device__ inline int syncthreads_and(int predicate) { return syncthreads_count(!predicate) == 0; }
__device__ inline int syncthreads_or(int predicate) { return syncthreads_count(predicate) != 0; }
}  // namespace cass
#endif
#endif
