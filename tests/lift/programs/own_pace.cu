// Lanes of a warp that wait for other lanes of it: since Volta each goes on in the end.
#include <cstdio>
#include <cuda/barrier>
#include <new>

#ifndef __HIP__  // clang's host program launches these kernels, too, and has not the headers
#include <cuda/latch>
#include <cuda/semaphore>
#endif

using word = unsigned;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr word threads = 64, rounds = 3;

#define PLACE(type, name)                                        \
  alignas(8) __shared__ unsigned char name##_room[sizeof(type)]; \
  type* const name = reinterpret_cast<type*>(name##_room)

// Half of each warp arrives at a barrier, the other half waits there.
template <bool lower_waits>
__global__ void halves(word* out, word* global) {
  PLACE(Barrier, barrier);
  __shared__ volatile word words[threads];
  const word t = threadIdx.x;
  if (t == 0) init(barrier, threads);
  words[t] = 0;
  __syncthreads();
  if ((t % 32 < 16) == lower_waits) {
    barrier->arrive_and_wait();
    out[t] = words[t ^ 16] + 1;
  } else {
    words[t] = t * 3;
    (void)barrier->arrive();
    out[t] = t;
  }
}

// Lane t waits at barrier t for lane 31 - t, which comes from its own wait.
__global__ void ladder(word* out, word* global) {
  alignas(8) __shared__ unsigned char room[threads * sizeof(Barrier)];
  Barrier* const barriers = reinterpret_cast<Barrier*>(room);
  __shared__ volatile word words[threads];
  const word t = threadIdx.x, next = t - 1;
  init(&barriers[t], 2);
  __syncthreads();
  word before = 7;
  if (t % 32 != 31) {
    barriers[t].arrive_and_wait();
    before = words[t + 1];
  }
  words[t] = before + t;
  if (t % 32 != 0) (void)barriers[next].arrive();
  out[t] = before;
}

__global__ void latches(word* out, word* global) {
#ifndef __HIP__
  using Latch = cuda::latch<cuda::thread_scope_block>;
  PLACE(Latch, latch);
  __shared__ volatile word words[threads];
  const word t = threadIdx.x;
  if (t == 0) new (latch) Latch(threads / 2);
  __syncthreads();
  if (t & 1) {
    latch->wait();
    out[t] = words[t - 1];
  } else {
    words[t] = t + 100;
    latch->count_down();
    out[t] = 1;
  }
#endif
}

__device__ void add(word* count, word number) {
  volatile word* const place = count;
  *place = *place + number;
}

// No barrier follows: ptxas would have the lanes meet for it before they give the semaphore back.
__global__ void semaphores(word* out, word* global) {
#ifndef __HIP__
  using Semaphore = cuda::binary_semaphore<cuda::thread_scope_block>;
  PLACE(Semaphore, semaphore);
  if (threadIdx.x == 0) new (semaphore) Semaphore(1);
  __syncthreads();
  semaphore->acquire();
  add(&global[1], threadIdx.x);
  semaphore->release();
  out[threadIdx.x] = threadIdx.x;
#endif
}

// The lock is given back behind the loop; then the lanes exchange something.
__global__ void unlock_behind(word* out, word* global) {
  const word t = threadIdx.x;
  while (atomicCAS(&global[0], 0u, 1u) != 0u) {
  }
  __threadfence();
  add(&global[1], t);
  __threadfence();
  atomicExch(&global[0], 0u);
  out[t] = __shfl_xor_sync(~0u, t * 5, 3) + __popc(__ballot_sync(~0u, t % 3 == 0));
}

__global__ void unlock_inside(word* out, word* global) {
  const word t = threadIdx.x;
  for (bool done = false; !done;) {
    if (atomicCAS(&global[0], 0u, 1u) == 0u) {
      add(&global[1], t + 1);
      __threadfence();
      atomicExch(&global[0], 0u);
      done = true;
    }
  }
  out[t] = __shfl_down_sync(~0u, t, 1);
}

__global__ void unlock_and_break(word* out, word* global) {
  const word t = threadIdx.x;
  for (;;) {
    if (atomicCAS(&global[0], 0u, 1u) == 0u) {
      add(&global[1], t + 2);
      __threadfence();
      atomicExch(&global[0], 0u);
      break;
    }
  }
  out[t] = __shfl_up_sync(~0u, t, 1);
}

// Two locks, one inside of the other, in a loop; each lane begins with another one of four pairs.
__global__ void nested_locks(word* out, word* global) {
  const word t = threadIdx.x;
  word sum = 0;
  for (word round = 0; round < rounds; ++round) {
    word* const pair = &global[4 * ((t + round) % 4)];
    while (atomicCAS(&pair[0], 0u, 1u) != 0u) __nanosleep(20);
    while (atomicExch(&pair[1], 1u) != 0u) {
    }
    __threadfence();
    add(&pair[2], t);
    __threadfence();
    atomicExch(&pair[1], 0u);
    atomicExch(&pair[0], 0u);
    sum += __shfl_xor_sync(~0u, t + round, 1);
  }
  out[t] = sum;
}

// One lane of each warp makes, the others wait; `maker` is the first or the last of them.
__global__ void flags(word* out, word maker) {
  __shared__ volatile word ready[2], values[2];
  const word t = threadIdx.x, warp = t / 32;
  if (t < 2) ready[t] = 0;
  __syncthreads();
  if (t % 32 != maker) {
    while (ready[warp] == 0) {
    }
    __threadfence_block();
    out[t] = values[warp] + t;
  } else {
    values[warp] = 1000 * (warp + 1);
    __threadfence_block();
    ready[warp] = 1;
    out[t] = 7;
  }
}

// The same behind the place where the lanes would meet, with a counter that nothing depends on.
__global__ void counted(word* out, word* global) {
  volatile word* const flag = global;
  const word t = threadIdx.x, warp = t / 32;
  word looks = 0;
  if (t % 32 != 9) {
    while (flag[warp] == 0) ++looks;
  }
  __threadfence();
  if (t % 32 == 9) flag[warp] = t;
  __syncwarp();
  out[t] = flag[warp] + (looks > 0 ? 0 : 0);
}

__device__ __noinline__ void await(volatile word* place, word number) {
  while (*place < number) __nanosleep(20);
}

// Lanes come one after the other, the last one first, three times; the wait is in a function.
__global__ void queue(word* out, word* global) {
  volatile word* const turn = global;
  const word t = threadIdx.x;
  word sum = 0;
  for (word round = 0; round < rounds; ++round) {
    await(turn, round * threads + (threads - 1 - t));
    sum += *turn;
    __threadfence();
    *turn = *turn + 1;
  }
  out[t] = sum;
}

__device__ __noinline__ void count(word* lock, word* sum, word number) {
  while (atomicCAS(lock, 0u, 1u) != 0u) {
  }
  __threadfence();
  if (number % 2 == 0) {
    add(sum, number);
  } else {
    for (word k = 0; k < number % 8; ++k) add(sum, 1);
  }
  __threadfence();
  atomicExch(lock, 0u);
}

// A lock in a function that is called in both branches, and again where the lanes have met.
__global__ void called(word* out, word* global) {
  const word t = threadIdx.x;
  word sum = 0;
  for (word round = 0; round < rounds; ++round) {
    if ((t + round) % 3 == 0) {
      count(&global[0], &global[1], t);
    } else {
      count(&global[2], &global[3], t + 1);
      sum += 1;
    }
    sum += __shfl_xor_sync(~0u, t * round, 1);
    count(&global[4], &global[5], 2);
  }
  out[t] = sum + __popc(__ballot_sync(~0u, t % 5 == 0));
}

// Out of two loops at once, on to the next round, and out of the kernel, while others wait.
__global__ void leaves(word* out, word* global) {
  volatile word* const flag = global;
  const word t = threadIdx.x, lane = t % 32;
  word found = 0;
  for (word round = 0; round < rounds; ++round) {
    for (word k = 0; k < 4; ++k) {
      if (lane % 4 == 3) continue;
      while (flag[t / 32] != 32) {
        if (lane == 0) {  // it lets the others go, which it has left behind
          flag[t / 32] = 32;
          __threadfence();
        } else if (flag[8] == t + 1) {
          goto out;
        }
        ++found;
        if (found > 1000000) return;
      }
      if (k == 2) break;
    }
  }
out:
  __syncwarp();
  out[t] = __shfl_down_sync(~0u, t, 2);
}

// Lanes of one number vote together, in a loop that they leave one by one.
__global__ void votes(word* out, word* global) {
  volatile word* const flag = global;
  const word t = threadIdx.x, group = t % 32 / 4 % 3;
  word mask = __match_any_sync(~0u, group), sum = 0;
  for (word round = 0; round < 4; ++round) {
    while (flag[group] < round) {
      if (flag[8] != 0) return;
    }
    mask = __ballot_sync(mask, t % 4 != round % 2);
    sum += __popc(mask);
    if (group == 2) {
      flag[0] = flag[1] = flag[2] = round + 1;
      __threadfence();
    }
    if ((mask >> t % 32 & 1) == 0) break;
  }
  out[t] = sum;
}

// What a lane waits for comes from the lane before it, and what the first one does from the last.
__global__ void ring(word* out, word* global) {
  __shared__ volatile word words[threads];
  const word t = threadIdx.x;
  words[t] = t == 0 ? 1 : 0;
  __syncthreads();
  word got = 0;
  for (word round = 1; round <= rounds; ++round) {
    while (words[t] < round) {
      if (words[t] > 100) break;
    }
    got = got * 10 + words[t];
    __threadfence_block();
    words[(t + 1) % threads] = t == threads - 1 ? round + 1 : round;
  }
  out[t] = got;
}

// Barriers of the block in both branches of a warp.
__global__ void branches(word* out, word* global) {
  __shared__ word words[threads];
  const word t = threadIdx.x;
  word sum = 0;
  for (word round = 0; round < rounds; ++round) {
    words[t] = t * 5 + round;
    if (t & 1) {
      asm volatile("barrier.sync 0;" ::: "memory");
      sum += words[t ^ 33];
      asm volatile("barrier.sync 0;" ::: "memory");
    } else {
      asm volatile("barrier.sync 0;" ::: "memory");
      sum += words[t ^ 35] + 1;
      asm volatile("barrier.sync 0;" ::: "memory");
    }
  }
  out[t] = sum;
}

// Of two warps one waits for a word that the other one writes.
template <word waiting>
__global__ void warps(word* out, word* global) {
  __shared__ volatile word ready, value;
  const word t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t / 32 == waiting) {
    while (ready == 0) {
    }
    __threadfence_block();
    out[t] = value + t;
  } else {
    if (t % 32 == 0) {
      value = 90;
      __threadfence_block();
      ready = 1;
    }
    out[t] = 2;
  }
}

word host[threads], state[16], *out, *global;

template <typename Launch>
void show(const char* name, Launch launch) {
  cudaMemset(out, 0xff, sizeof host);
  cudaMemset(global, 0, sizeof state);
  launch();
  const cudaError_t error = cudaDeviceSynchronize();
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(state, global, sizeof state, cudaMemcpyDeviceToHost);
  printf("%s %d:", name, (int)error);
  for (word each : host) printf(" %u", each);
  printf(" /");
  for (word each : state) printf(" %u", each);
  printf("\n");
}

#define SHOW(name, ...) show(#name, [] { __VA_ARGS__<<<1, threads>>>(out, global); })

int main() {
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&global, sizeof state);
  SHOW(lower_waits, halves<true>);
  SHOW(upper_waits, halves<false>);
  SHOW(ladder, ladder);
  SHOW(latches, latches);
  SHOW(semaphores, semaphores);
  SHOW(unlock_behind, unlock_behind);
  SHOW(unlock_inside, unlock_inside);
  SHOW(unlock_and_break, unlock_and_break);
  SHOW(nested_locks, nested_locks);
  show("first_makes", [] { flags<<<1, threads>>>(out, 0); });
  show("last_makes", [] { flags<<<1, threads>>>(out, 31); });
  SHOW(counted, counted);
  SHOW(queue, queue);
  SHOW(votes, votes);
  SHOW(called, called);
  SHOW(leaves, leaves);
  SHOW(ring, ring);
  SHOW(branches, branches);
  SHOW(first_warp_waits, warps<0>);
  SHOW(second_warp_waits, warps<1>);
}
