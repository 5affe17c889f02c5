// One exchange of lanes that come to it by several instructions: those of a mask give each other
// what each has brought, whichever branch it is in (CUDA C++ Programming Guide, "Warp Shuffle
// Functions": all non-exited threads of the mask execute the same intrinsic with the same mask).
#include <cstdio>

using word = unsigned;

constexpr word threads = 80, words = 3;  // two warps and half of one

// The lanes that there are in the thread's warp.
__device__ word all(word t) { return t < 64 ? ~0u : 0xffffu; }

__global__ void shuffles(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  word found;
  if (lane & 1) {
    out[t + threads] = 3;
    found = __shfl_sync(all(t), t * 3, (lane + 2) % 16);
  } else {
    found = __shfl_sync(all(t), t * 5, (lane + 3) % 16) + 1000;
  }
  out[t] = found;
}

__global__ void directions(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  if (lane % 3 == 0) {
    out[t] = __shfl_up_sync(all(t), t, 1, 16);
    out[t + threads] = __shfl_down_sync(all(t), t + 1, 2, 8);
    out[t + 2 * threads] = __shfl_xor_sync(all(t), t + 2, 5, 16);
  } else {
    out[t] = __shfl_up_sync(all(t), 2 * t, 1, 16) + 1000;
    out[t + threads] = __shfl_down_sync(all(t), 2 * t + 1, 2, 8) + 1000;
    out[t + 2 * threads] = __shfl_xor_sync(all(t), 2 * t + 2, 5, 16) + 1000;
  }
}

__global__ void wide(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  double found;
  if (lane % 4 == 1) {
    out[t + threads] = 3;
    found = __shfl_xor_sync(all(t), t + 0.25, 1);
  } else {
    found = __shfl_xor_sync(all(t), t * 2 + 0.5, 1) + 1;
  }
  out[t] = word(found * 4);
}

__global__ void votes(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  if (lane % 3 == 0) {
    out[t] = __ballot_sync(all(t), t % 5 == 0);
    out[t + threads] = __any_sync(all(t), t == 33);
    out[t + 2 * threads] = __all_sync(all(t), t < 70);
  } else {
    out[t] = __ballot_sync(all(t), t % 7 == 1) + 1000;
    out[t + threads] = __any_sync(all(t), t == 7) + 1000;
    out[t + 2 * threads] = __all_sync(all(t), t < 80) + 1000;
  }
}

__global__ void matches(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  int same;
  if (lane % 3 == 0) {
    out[t] = __match_any_sync(all(t), t % 5);
    out[t + threads] = __match_all_sync(all(t), t / 32, &same);
  } else {
    out[t] = __match_any_sync(all(t), t % 4) + 1000;
    out[t + threads] = __match_all_sync(all(t), t < 33 ? 0u : t / 32, &same) + 1000;
  }
  out[t + 2 * threads] = same;
}

__global__ void reductions(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  if (lane % 3 == 0) {
    out[t] = __reduce_add_sync(all(t), t);
    out[t + threads] = __reduce_min_sync(all(t), t + 9);
    out[t + 2 * threads] = __reduce_or_sync(all(t), 1u << lane % 7);
  } else {
    out[t] = __reduce_add_sync(all(t), 2 * t) + 1000;
    out[t + threads] = __reduce_min_sync(all(t), t + 5) + 1000;
    out[t + 2 * threads] = __reduce_or_sync(all(t), 1u << lane % 11) + 1000;
  }
}

// Who stores does so before the other branch loads.
__global__ void memory(word* out) {
  __shared__ volatile word given[threads];
  const word t = threadIdx.x, lane = t % 32;
  given[t] = 7;
  if (lane % 16 < 8) {
    given[t] = t * 2;
    __syncwarp(all(t));
    out[t] = given[t ^ 8];
    __syncwarp(all(t));
    given[t] = t;
    __syncwarp(all(t));
    out[t + threads] = given[t ^ 9];
  } else {
    given[t] = t * 3;
    __syncwarp(all(t));
    out[t] = given[t ^ 8] + 1000;
    __syncwarp(all(t));
    given[t] = t + 1;
    __syncwarp(all(t));
    out[t + threads] = given[t ^ 9] + 1000;
  }
}

// Half of the warp alone; the others do something else, and meet the rest at the end.
__global__ void half(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  word found = t;
  if (lane & 1) {
    if (lane < 16) {
      out[t + threads] = 3;
      found = __shfl_sync(0xffff, t * 3, (lane + 2) % 16);
    }
  } else if (lane < 16) {
    found = __shfl_sync(0xffff, t * 5, (lane + 1) % 16) + 1000;
  }
  __syncwarp(all(t));
  out[t + 2 * threads] = __ballot_sync(all(t), found & 1);
  out[t] = found;
}

// Three ways, two exchanges on each.
__global__ void nested(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  word found;
  if (lane % 2) {
    if (lane % 4 == 1) {
      found = __shfl_sync(all(t), t, (lane + 1) % 16);
      found += __shfl_sync(all(t), found, (lane + 7) % 16);
    } else {
      found = __shfl_sync(all(t), t * 2, (lane + 2) % 16) + 100;
      found += __shfl_sync(all(t), found * 3, (lane + 5) % 16);
    }
    out[t + threads] = found;
  } else {
    found = __shfl_sync(all(t), t * 3, (lane + 3) % 16) + 1000;
    out[t + 2 * threads] = found;
    found += __shfl_sync(all(t), found * 5, (lane + 11) % 16);
  }
  out[t] = found;
}

__global__ void in_a_loop(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  word sum = t;
  for (word k = 0; k < 5; ++k) {
    if ((lane + k) % 3 == 0) {
      sum += __shfl_xor_sync(all(t), sum, 1);
      out[t + threads] = sum;
    } else {
      sum = sum * 3 + __shfl_xor_sync(all(t), sum + k, 1);
    }
  }
  out[t] = sum;
}

// Three exchanges one after the other in one branch, a loop of three in the other.
__global__ void as_often(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  word sum = t;
  if (lane % 5 == 2) {
    for (word k = 1; k < 4; ++k) sum += __shfl_xor_sync(all(t), sum, k);
  } else {
    sum = sum * 2 + __shfl_xor_sync(all(t), sum + 1, 1);
    out[t + threads] = sum;
    sum = sum * 2 + __shfl_xor_sync(all(t), sum + 2, 2);
    sum = sum * 2 + __shfl_xor_sync(all(t), sum + 3, 3);
  }
  out[t] = sum;
}

__device__ __noinline__ word rotated(word mask, word value, word lane) {
  const word found = __shfl_sync(mask, value, (lane + 1) % 16);
  return found % 5 == 0 ? found / 5 : found * 3 + 1;
}

// A function that both branches call.
__global__ void called(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  word sum;
  if (lane % 3) {
    sum = rotated(all(t), t * 3, lane);
  } else {
    out[t + threads] = 1;
    sum = rotated(all(t), t + 50, lane) + 1000;
  }
  out[t] = sum + rotated(all(t), sum, lane);
}

// Groups of lanes, each with its mask; each group is in both branches.
__global__ void groups(word* out) {
  const word t = threadIdx.x, lane = t % 32, group = __match_any_sync(all(t), t % 3);
  const word first = __ffs(group) - 1;
  if (lane & 1) {
    out[t] = __ballot_sync(group, t % 5 == 0);
    out[t + threads] = __shfl_sync(group, t * 3, first);
    out[t + 2 * threads] = __reduce_add_sync(group, t);
  } else {
    out[t] = __ballot_sync(group, t % 7 == 1) + 1000;
    out[t + threads] = __shfl_sync(group, t * 5, first) + 1000;
    out[t + 2 * threads] = __reduce_add_sync(group, 2 * t) + 1000;
  }
}

// Lanes that have ended count as there; and one way more ends without an exchange.
__global__ void ended(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  out[t] = t;
  if (lane >= 13) return;
  if (lane % 3 == 0) {
    out[t + threads] = 3;
    out[t] = __shfl_sync(~0u, t * 3, (lane + 1) % 12);
  } else if (lane % 3 == 1) {
    out[t] = __shfl_sync(~0u, t * 5, (lane + 1) % 12) + 1000;
  } else {
    out[t] = __shfl_sync(~0u, t * 7, (lane + 1) % 12) + 2000;
  }
}

// Lane 1 exchanges with lane 2 first, while lane 0 waits for it.
__global__ void chain(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  word found = t;
  if (lane == 0) {
    found = __shfl_sync(3, t + 10, 1);
  } else if (lane == 1) {
    out[t + threads] = found = __shfl_sync(6, t + 20, 2);
    found = __shfl_sync(3, found * 2, 0);
  } else if (lane == 2) {
    out[t + threads] = 1;
    found = __shfl_sync(6, t + 30, 1);
  }
  out[t] = found;
}

// Each case of a switch.
__global__ void cases(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  word found = 0;
  switch ((lane * 7 + 3) % 6) {
    case 0: found = __shfl_xor_sync(all(t), t, 3); break;
    case 1: found = __shfl_xor_sync(all(t), t * 2, 3) + 100; break;
    case 2: out[t + threads] = 2; found = __shfl_xor_sync(all(t), t * 3, 3) + 200; break;
    case 3: found = __shfl_xor_sync(all(t), t * 4, 3) * 2; break;
    case 4: out[t + threads] = 4; found = __shfl_xor_sync(all(t), t * 5, 3) * 3; break;
    default: found = __shfl_xor_sync(all(t), t * 6, 3) + 500;
  }
  out[t] = found;
}

word host[threads * words], *out;

void show(const char* name, void (*kernel)(word*)) {
  cudaMemset(out, 0, sizeof host);
  kernel<<<1, threads>>>(out);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%s %d:", name, (int)error);
  for (word each : host) printf(" %u", each);
  printf("\n");
}

#define SHOW(name) show(#name, name)

int main() {
  cudaMalloc(&out, sizeof host);
  SHOW(shuffles);
  SHOW(directions);
  SHOW(wide);
  SHOW(votes);
  SHOW(matches);
  SHOW(reductions);
  SHOW(memory);
  SHOW(half);
  SHOW(nested);
  SHOW(in_a_loop);
  SHOW(as_often);
  SHOW(called);
  SHOW(groups);
  SHOW(ended);
  SHOW(chain);
  SHOW(cases);
}
