// Kernels for the way from RDNA3 to PTX: each takes (in, out, n), 256 words in and 1024 out.
#include <hip/hip_runtime.h>

#define KERNEL extern "C" __global__ void __launch_bounds__(256)
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL integers(const int* in, int* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const int a = in[i], b = in[(i + 7) % n];
  const unsigned ua = a, ub = b | 1;
  out[i] = a * b + (a << (b & 31)) - (a >> 3) + __popc(a) + __clz(b) + __ffs(a);
  out[n + i] = ua / ub + ua % ub + __brev(ua) + min(a, b) + max(ua, ub) + abs(b);
  out[2 * n + i] = __mulhi(a, b) + __umulhi(ua, ub) + (a ^ b) - (~a & b) + __byte_perm(ua, ub, 0x1735);
}

KERNEL wide(const int* in, int* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const long long a = (long long)in[i] << 20 ^ in[(i + 3) % n], b = in[(i + 5) % n] | 1;
  const long long made = a * b + (a >> 7) - (b << 33) + a / b + a % b + (a < b ? a : b);
  out[i] = (int)made;
  out[n + i] = (int)(made >> 32);
  const unsigned __int128 product = (unsigned __int128)(unsigned long long)a * (unsigned long long)b;
  out[2 * n + i] = (int)(product >> 64);
}

KERNEL floats(const float* in, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float a = in[i], b = in[(i + 1) % n];
  out[i] = a / b + fmaf(a, b, 1.5f) - sqrtf(fabsf(a)) + fminf(a, b);
  out[n + i] = floorf(a) + ceilf(b) + truncf(a * 3) + rintf(b * 5) + ldexpf(a, 3);
  out[2 * n + i] = (float)(int)(a * 100) + (float)(unsigned)fabsf(b * 7) + (a > b ? 1.0f : -a);
}

KERNEL doubles(const float* in, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const double a = in[i], b = in[(i + 1) % n];
  out[i] = (float)(a / b + fma(a, b, 0.25) - a * b);
  out[n + i] = (float)(floor(a * 10) + (double)(int)(b * 1000) + (a < b ? a : b * 2));
  out[2 * n + i] = (float)sqrt(fabs(a));
}

KERNEL divergent(const int* in, int* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  int value = in[i], steps = 0;
  while (value > 0 && steps < 40) {
    if (value & 1) {
      value = value / 3 + steps;
    } else if (value % 5 == 0) {
      value -= 7;
      if (value < 50) break;
    } else {
      value >>= 1;
    }
    ++steps;
  }
  switch (steps % 5) {
    case 0: out[i] = value; break;
    case 1: out[i] = -value; break;
    case 3: out[i] = value * steps; break;
    default: out[i] = steps;
  }
}

KERNEL shared(const int* in, int* out, int n) {
  __shared__ int tile[256];
  __shared__ short narrow[256];
  const int t = threadIdx.x, i = INDEX;
  tile[t] = i < n ? in[i] : 0;
  narrow[t] = (short)tile[t];
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    const int other = t >= step ? tile[t - step] : 0;
    __syncthreads();
    tile[t] += other;
    __syncthreads();
  }
  if (i < n) out[i] = tile[t] + narrow[255 - t];
}

KERNEL lanes(const int* in, int* out, int n) {
  const int i = INDEX;
  int value = i < n ? in[i] : 0;
  const unsigned long long set = __ballot(value & 1);
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor(value, step);
  const int next = __shfl_down(value + i, 3), first = __shfl(value + i, 5);
  if (i >= n) return;
  out[i] = value + (int)set;
  out[n + i] = next ^ first;
  out[2 * n + i] = __any(value > 0) + 2 * __all(in[i] < 1 << 30);
}

KERNEL atomics(const int* in, int* out, int n) {
  __shared__ int bins[16];
  const int t = threadIdx.x, i = INDEX;
  if (t < 16) bins[t] = 0;
  __syncthreads();
  if (i < n) {
    atomicAdd(&bins[in[i] & 15], 1);
    atomicMax(&out[n + 32], in[i]);
    atomicXor((unsigned*)&out[n + 33], in[i]);
    atomicAdd((unsigned long long*)&out[n + 34], (unsigned long long)in[i]);
    int old = out[n + 40], assumed;
    do {
      assumed = old;
      old = atomicCAS(&out[n + 40], assumed, assumed + (in[i] & 3));
    } while (old != assumed);
  }
  __syncthreads();
  if (t < 16) atomicAdd(&out[t], bins[t]);
}

struct Pair {
  char tag;
  double scale;
  short parts[3];
};

KERNEL frames(const int* in, int* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  int frame[32];
  for (int k = 0; k < 32; ++k) frame[k] = in[(i + k) % n];
  for (int k = 0; k < 32; ++k) frame[(unsigned)frame[k] % 32] += k;
  int sum = 0;
  for (int k = 0; k < 32; ++k) sum = sum * 31 + frame[k];
  out[i] = sum + gridDim.x * 1000 + blockDim.x;
}

__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int offsets[4] = {-7, 100, 0, 65536};

KERNEL variables(const int* in, int* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  out[i] = table[in[i] & 7] * 1000 + offsets[i & 3] + table[5];
  out[n + i] = (int)(((long long)(in[i] & 0xFFFFFF) * (in[i] + 5 & 0xFFFFFF)) >> 32);
}
