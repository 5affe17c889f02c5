// Barriers of a block in a cluster, and of the cluster: the hardware's barrier is of the workgroup,
// in which all blocks of a cluster are, and whose arrivals cannot be apart from waits.

namespace {

constexpr uint32_t meetings_place = 208, meetings_end = 240;  // lowering/clusters.py
constexpr uint32_t first_barrier = 16;

// 64 bits in shared memory, changed at once: how often all have met, threads that have ended, and
// those that have come or ended.
struct Meeting {
  uint32_t round, ended, come;

  __device__ static Meeting of(uint64_t state) {
    return {(uint32_t)(state >> 32), (uint32_t)state >> 16, (uint32_t)state & 0xffff};
  }

  // The state after it, in the next round if nobody is missing of `threads`.
  __device__ uint64_t state(uint32_t threads) const {
    const bool is_over = come >= threads;
    return pair(ended << 16 | (is_over ? ended : come), round + is_over);
  }
};

__device__ uint32_t round_at(uint32_t place) {
  const uint64_t state = __atomic_load_n((SharedWide *)place, __ATOMIC_RELAXED);
  acquire();
  return Meeting::of(state).round;
}

}  // namespace

// Barriers with nobody at them; every thread of the workgroup calls this first. `start` is where its
// block's LDS begins, `thread` its number in the block.
extern "C" __device__ void __cass_cluster_begin(uint32_t start, uint32_t thread) {
  if (thread == 0) {
    for (uint32_t byte = first_barrier; byte < meetings_end; byte += 4) {
      __atomic_store_n((BarrierWord *)(start + byte), 0, __ATOMIC_RELAXED);
    }
  }
  release();
  __builtin_amdgcn_s_barrier();
  acquire();
}

// The active lanes are at a barrier of `threads` threads; gives the round that they are in.
extern "C" __device__ uint32_t __cass_meeting_arrive(uint32_t place, uint32_t threads) {
  const uint32_t lanes = count_where(true);
  uint32_t round = 0;
  if (is_first_lane()) {
    round = Meeting::of(change(place, [=](uint64_t state) {
              Meeting now = Meeting::of(state);
              now.come += lanes;
              return now.state(threads);
            })).round;
  }
  return __builtin_amdgcn_readfirstlane(round);
}

// Whether all have come in that round.
extern "C" __device__ uint32_t __cass_meeting_is_over(uint32_t place, uint32_t round) {
  return round_at(place) != round;
}

extern "C" __device__ void __cass_meeting_await(uint32_t place, uint32_t round) {
  if (is_first_lane()) {
    while (round_at(place) == round) __builtin_amdgcn_s_sleep(1);
  }
  __builtin_amdgcn_wave_barrier();
  acquire();
}

// The active lanes end. One that has come in the present round, and did not wait, is counted.
extern "C" __device__ void __cass_meeting_leave(uint32_t place, uint32_t threads,
                                                uint32_t arrived) {
  const uint32_t lanes = count_where(true), first = __builtin_amdgcn_readfirstlane(arrived);
  if (count_where(arrived == first) != lanes) {
    __builtin_trap();  // lanes of a warp that part at a cluster's barrier and end
  }
  if (is_first_lane()) {
    change(place, [=](uint64_t state) {
      Meeting now = Meeting::of(state);
      now.ended += lanes;
      if (now.round != first) now.come += lanes;
      return now.state(threads);
    });
  }
}
