#ifndef CASS_PIPELINE
#define CASS_PIPELINE
// Asynchronous copies to shared memory, made at once: a copy may complete at any time until it is
// waited for, and what it reads may not change meanwhile.
namespace cass {
__device__ inline void pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
    const size_t copied = bytes - zeros;
    for (size_t i = 0; i < bytes; i += 4) {
        // 4, 8 or 16 bytes, aligned to as many.
        unsigned int word = 0;
        if (copied >= i + 4)
            word = *reinterpret_cast<const unsigned int*>(static_cast<const char*>(from) + i);
        else if (copied > i)
            __builtin_memcpy(&word, static_cast<const char*>(from) + i, copied - i);
        *reinterpret_cast<unsigned int*>(static_cast<char*>(to) + i) = word;
    }
}
__device__ inline void pipeline_commit() {}
__device__ inline void pipeline_wait_prior(size_t) {}
}  // namespace cass
#endif
