// Barriers of a block in a cluster, and of the cluster: the hardware's barrier is of the workgroup,
// in which all blocks of a cluster are, and whose arrivals cannot be apart from waits.

namespace {

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

#if __AMDGCN_WAVEFRONT_SIZE == 64
using Lanes = uint64_t;
#else
using Lanes = uint32_t;
#endif
using SharedLanes = volatile Lanes __attribute__((address_space(3)));
constexpr uint32_t wave_lanes = 8 * sizeof(Lanes), set_bytes = 1024 / 8;

// Sets of a wave's lanes that its block keeps, which no other wave touches.
struct Wave {
  SharedLanes *const ended;  // counted as ended by the barrier at hand, whether they have or will
  SharedLanes *const come;  // to the cluster's barrier, and have not begun to wait
  const Lanes active, present;

  __device__ static Wave of(uint32_t sets, uint32_t is_of_cluster, uint32_t thread,
                            uint32_t block_threads) {
    const uint32_t number = __builtin_amdgcn_readfirstlane(thread / wave_lanes);
    const uint32_t place = sets + number * sizeof(Lanes);
    const uint32_t left = block_threads - number * wave_lanes;
    const Lanes present = left >= wave_lanes ? ~(Lanes)0 : ((Lanes)1 << left) - 1;
    return {(SharedLanes *)(place + is_of_cluster * set_bytes),
            (SharedLanes *)(place + 2 * set_bytes), (Lanes)lanes_where(true), present};
  }
};

__device__ uint32_t round_at(uint32_t place) {
  const uint64_t state = __atomic_load_n((SharedWide *)place, __ATOMIC_RELAXED);
  acquire();
  return Meeting::of(state).round;
}

}  // namespace

// Barriers with nobody at them; every thread of the workgroup calls this first. `start` is where
// its block's LDS begins, of which `bytes` are the barriers', `thread` its number in the block.
extern "C" __device__ void __cass_cluster_begin(uint32_t start, uint32_t bytes, uint32_t thread) {
  if (thread == 0) {
    for (uint32_t byte = first_barrier; byte < bytes; byte += 4) {
      __atomic_store_n((BarrierWord *)(start + byte), 0, __ATOMIC_RELAXED);
    }
  }
  release();
  __builtin_amdgcn_s_barrier();
  acquire();
}

// The active lanes are at a barrier of `threads` threads; gives the round that they are in. `sets`
// is where their block, of `block_threads`, keeps sets of lanes.
extern "C" __device__ uint32_t __cass_meeting_arrive(uint32_t place, uint32_t threads,
                                                     uint32_t is_of_cluster, uint32_t sets,
                                                     uint32_t thread, uint32_t block_threads) {
  const Wave wave = Wave::of(sets, is_of_cluster, thread, block_threads);
  if (*wave.ended & wave.active) __builtin_trap();  // lanes of a warp that part at a barrier
  const uint32_t lanes = __builtin_popcountll(wave.active);
  if (is_of_cluster) *wave.come |= wave.active;
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

// Lanes of the wave that have neither come nor ended run when the others have passed the barrier. A
// warp comes to a barrier with all its lanes that have not ended: so these are about to end, and
// count as ended now.
extern "C" __device__ void __cass_meeting_await(uint32_t place, uint32_t round, uint32_t threads,
                                                uint32_t is_of_cluster, uint32_t sets,
                                                uint32_t thread, uint32_t block_threads) {
  const Wave wave = Wave::of(sets, is_of_cluster, thread, block_threads);
  const Lanes come = is_of_cluster ? *wave.come : 0, ended = *wave.ended;
  const Lanes others = wave.present & ~(wave.active | ended | come);
  if (is_of_cluster) *wave.come = come & ~wave.active;
  if (others != 0 && round_at(place) == round) {
    *wave.ended = ended | others;
    if (is_first_lane()) {
      change(place, [=](uint64_t state) {
        Meeting now = Meeting::of(state);
        now.ended += __builtin_popcountll(others);
        now.come += __builtin_popcountll(others);
        return now.state(threads);
      });
    }
  }
  if (is_first_lane()) {
    while (round_at(place) == round) __builtin_amdgcn_s_sleep(1);
  }
  __builtin_amdgcn_wave_barrier();
  acquire();
}

// The active lanes end. Those that have come in the present round, and did not wait, are counted.
extern "C" __device__ void __cass_meeting_leave(uint32_t place, uint32_t threads,
                                                uint32_t is_of_cluster, uint32_t sets,
                                                uint32_t thread, uint32_t block_threads,
                                                uint32_t arrived) {
  const Wave wave = Wave::of(sets, is_of_cluster, thread, block_threads);
  const Lanes ended = *wave.ended, ending = wave.active & ~ended;
  *wave.ended = ended | ending;
  if (is_of_cluster) *wave.come &= ~wave.active;
  const uint32_t first = __builtin_amdgcn_readfirstlane(arrived);
  const bool is_same = (Lanes)lanes_where(arrived == first) == wave.active;
  // The round stays while some have not come.
  const uint32_t missing = __builtin_popcountll(ending & lanes_where(arrived != round_at(place)));
  const uint32_t lanes = __builtin_popcountll(ending);
  if (lanes != 0 && is_first_lane()) {
    change(place, [=](uint64_t state) {
      Meeting now = Meeting::of(state);
      now.ended += lanes;
      now.come += is_same ? (now.round == first ? 0 : lanes) : missing;
      return now.state(threads);
    });
  }
}
