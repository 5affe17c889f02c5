#ifndef CASS_BARRIER
#define CASS_BARRIER
#if defined(__HIPCC__)
// What libhipcxx lacks of libcu++: barriers of a block, pipelines of a thread or a block, and copies
// that belong to either. Copies are made at once: one may complete at any time until it is waited for.
namespace cass {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
template <size_t Alignment>
struct aligned_size_t {
    size_t value;
    __host__ __device__ constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
    __host__ __device__ constexpr operator size_t() const { return value; }
};
template <thread_scope Scope>
class barrier {
    static_assert(Scope == thread_scope_block, "barriers of other scopes than a block's are not supported");

  public:
    typedef unsigned int arrival_token;
    barrier() = default;
    __device__ void begin(unsigned int expected) {
        expected_ = expected;
        arrived_ = phase_ = 0;
    }
    __device__ arrival_token arrive(unsigned int count = 1) {
        __threadfence_block();
        const unsigned int phase = __hip_atomic_load(&phase_, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP);
        const unsigned int before = __hip_atomic_fetch_add(&arrived_, count, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_WORKGROUP);
        if (before + count == expected_) {
            __hip_atomic_store(&arrived_, 0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
            __hip_atomic_store(&phase_, phase + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
        }
        return phase;
    }
    // Behind the branch above, so that the last lane of a wavefront to arrive is never behind others
    // that wait for it.
    __device__ void wait(arrival_token phase) const {
        while (__hip_atomic_load(&phase_, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) == phase)
            __builtin_amdgcn_s_sleep(1);
        __threadfence_block();
    }
    __device__ void arrive_and_wait() { wait(arrive()); }

  private:
    unsigned int expected_, arrived_, phase_;
};
template <thread_scope Scope>
__device__ inline void init(barrier<Scope>* at, unsigned int expected) {
    at->begin(expected);
}
template <thread_scope Scope>
struct pipeline {
    static_assert(Scope == thread_scope_thread, "pipelines of other scopes are not supported");
    __device__ void producer_acquire() {}
    __device__ void producer_commit() {}
    __device__ void consumer_wait() {}
    __device__ void consumer_release() {}
};
__device__ inline pipeline<thread_scope_thread> make_pipeline() { return {}; }
template <thread_scope Scope, unsigned int Stages>
struct pipeline_shared_state {
    barrier<Scope> filled[Stages], emptied[Stages];
};
// Each thread of the group produces and consumes: a stage is filled when all have committed to it, and
// free again when all have released it.
template <>
struct pipeline<thread_scope_block> {
    barrier<thread_scope_block>*filled, *emptied;
    unsigned int stages, produced, consumed;
    __device__ void producer_acquire() {
        if (produced >= stages) emptied[produced % stages].wait(produced / stages - 1);
    }
    __device__ void producer_commit() {
        filled[produced % stages].arrive();
        ++produced;
    }
    __device__ void consumer_wait() { filled[consumed % stages].wait(consumed / stages); }
    __device__ void consumer_release() {
        emptied[consumed % stages].arrive();
        ++consumed;
    }
};
template <typename Group, unsigned int Stages>
__device__ inline pipeline<thread_scope_block> make_pipeline(
    const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state) {
    if (group.thread_rank() == 0) {
        for (unsigned int stage = 0; stage < Stages; ++stage) {
            state->filled[stage].begin(group.size());
            state->emptied[stage].begin(group.size());
        }
    }
    group.sync();
    return {state->filled, state->emptied, Stages, 0, 0};
}
template <unsigned int Prior>
__device__ inline void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {}
template <typename Sync>
__device__ inline void memcpy_async(void* to, const void* from, size_t bytes, Sync&) {
    __builtin_memcpy(to, from, bytes);
}
template <typename Group, typename Sync>
__device__ inline void memcpy_async(const Group& group, void* to, const void* from, size_t bytes, Sync&) {
    for (size_t i = group.thread_rank(); i < bytes; i += group.size())
        static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
}
}  // namespace cass
#endif
#endif
