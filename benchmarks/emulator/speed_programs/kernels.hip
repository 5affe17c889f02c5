#include <hip/hip_runtime.h>

#include "cases.hpp"

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    left[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

__global__ void reduce(const float* in, float* out, int n) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void histogram(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned local[bins];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], local[threadIdx.x]);
}

__global__ void nbody(const float4* body, float4* force, int n) {
  __shared__ float4 tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float4 own = body[i];
  float x = 0, y = 0, z = 0;
  for (int start = 0; start < n; start += 256) {
    tile[threadIdx.x] = body[start + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 256; ++k) {
      const float dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01F);
      const float scale = tile[k].w * inverse * inverse * inverse;
      x += dx * scale;
      y += dy * scale;
      z += dz * scale;
    }
    __syncthreads();
  }
  force[i] = make_float4(x, y, z, 0);
}

__device__ float cumulative(float d) {
  const float k = 1 / (1 + 0.2316419F * fabsf(d));
  const float series =
      k * (0.31938153F +
           k * (-0.356563782F + k * (1.781477937F + k * (-1.821255978F + k * 1.330274429F))));
  const float tail = 0.39894228F * expf(-0.5F * d * d) * series;
  return d > 0 ? 1 - tail : tail;
}

__global__ void black_scholes(const float* price, const float* strike, const float* years,
                              float* call, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float root = sqrtf(years[i]);
  const float d1 = (logf(price[i] / strike[i]) + (0.02F + 0.045F) * years[i]) / (0.3F * root);
  const float discount = expf(-0.02F * years[i]);
  call[i] = price[i] * cumulative(d1) - strike[i] * discount * cumulative(d1 - 0.3F * root);
}

__global__ void mandelbrot(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float cx = -2 + 3.0F * (i % mandelbrot_width) / mandelbrot_width;
  const float cy = -1 + 2.0F * (i / mandelbrot_width) / mandelbrot_height;
  float x = 0, y = 0;
  int count = 0;
  while (count < mandelbrot_limit && x * x + y * y < 4) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++count;
  }
  out[i] = count;
}

// Eight values a thread, shuffles within a warp, LDS between warps.
__global__ void scan_blocks(const int4* in, int4* out, int* sums) {
  __shared__ int warps[scan_block / 32];
  const int i = 2 * (blockIdx.x * scan_block + threadIdx.x), lane = threadIdx.x % 32;
  int4 a = in[i], b = in[i + 1];
  a.y += a.x, a.z += a.y, a.w += a.z, b.x += a.w, b.y += b.x, b.z += b.y, b.w += b.z;
  int sum = b.w;
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up(sum, step);
    if (lane >= step) sum += before;
  }
  if (lane == 31) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  int before = sum - b.w;
  for (int k = 0; k < threadIdx.x / 32; ++k) before += warps[k];
  a.x += before, a.y += before, a.z += before, a.w += before;
  b.x += before, b.y += before, b.z += before, b.w += before;
  out[i] = a;
  out[i + 1] = b;
  if (threadIdx.x == scan_block - 1) sums[blockIdx.x] = b.w;
}
__global__ void scan_sums(int* sums, int n) {
  int total = 0;
  for (int i = 0; threadIdx.x == 0 && i < n; ++i) {
    const int own = sums[i];
    sums[i] = total;
    total += own;
  }
}
__global__ void scan_add(int4* out, const int* sums) {
  const int i = 2 * (blockIdx.x * scan_block + threadIdx.x), before = sums[blockIdx.x];
  int4 a = out[i], b = out[i + 1];
  a.x += before, a.y += before, a.z += before, a.w += before;
  b.x += before, b.y += before, b.z += before, b.w += before;
  out[i] = a;
  out[i + 1] = b;
}

template <class T>
T* shared(std::size_t count) {
  T* memory = nullptr;
  if (hipMallocManaged(&memory, count * sizeof(T)) != hipSuccess) std::abort();
  return memory;
}
void wait() {
  if (hipDeviceSynchronize() != hipSuccess) std::abort();
}

int main() {
  const int most = reduce_size;
  float *a = shared<float>(most), *b = shared<float>(most), *c = shared<float>(most),
        *d = shared<float>(most);
  unsigned *keys = shared<unsigned>(most), *counts = shared<unsigned>(bins);
  int *whole = shared<int>(most), *sums = shared<int>(most), *in = shared<int>(most);
  float4 *body = shared<float4>(bodies), *force = shared<float4>(bodies);
  for (int i = 0; i < most; ++i) {
    a[i] = value_at(i);
    b[i] = value_at(i + 7) + 0.5F;
    keys[i] = static_cast<unsigned>(value_at(i) * bins);
    in[i] = static_cast<int>(keys[i]);
  }
  for (int i = 0; i < bodies; ++i)
    body[i] = make_float4(value_at(i), value_at(i + 1), value_at(i + 2), 1);
  measure(
      "vector add",
      [&] {
        vector_add<<<add_size / 256, 256>>>(a, b, c, add_size);
        wait();
      },
      [&] { return c[77]; });
  measure(
      "matmul",
      [&] {
        matmul<<<dim3(matrix_size / 16, matrix_size / 16), dim3(16, 16)>>>(a, b, c, matrix_size);
        wait();
      },
      [&] { return c[77]; });
  float total = 0;
  measure(
      "reduction",
      [&] {
        reduce<<<64, 256>>>(a, c, reduce_size);
        wait();
        total = 0;
        for (int i = 0; i < 64; ++i) total += c[i];
      },
      [&] { return total; });
  measure(
      "histogram",
      [&] {
        if (hipMemset(counts, 0, bins * sizeof(unsigned)) != hipSuccess) std::abort();
        histogram<<<64, 256>>>(keys, counts, histogram_size);
        wait();
      },
      [&] { return counts[77]; });
  measure(
      "n-body",
      [&] {
        nbody<<<bodies / 256, 256>>>(body, force, bodies);
        wait();
      },
      [&] { return force[77].x; });
  measure(
      "Black-Scholes",
      [&] {
        black_scholes<<<options / 256, 256>>>(b, a + 9, b + 5, c, options);
        wait();
      },
      [&] { return c[77]; });
  measure(
      "Mandelbrot",
      [&] {
        mandelbrot<<<mandelbrot_width * mandelbrot_height / 256, 256>>>(whole);
        wait();
      },
      [&] { return whole[mandelbrot_width * 100 + 333]; });
  measure(
      "scan",
      [&] {
        constexpr int blocks = scan_size / scan_block / 8;
        scan_blocks<<<blocks, scan_block>>>(reinterpret_cast<int4*>(in),
                                            reinterpret_cast<int4*>(whole), sums);
        scan_sums<<<1, 32>>>(sums, blocks);
        scan_add<<<blocks, scan_block>>>(reinterpret_cast<int4*>(whole), sums);
        wait();
      },
      [&] { return whole[scan_size - 1]; });
}
