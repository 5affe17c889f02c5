// Unqualified and std:: overloads in kernels and in functions for both sides.
#include <cmath>
#include <cstdio>
#include <cstdlib>

template <typename T>
__host__ __device__ T loss(T x, T beta) {
  const T size = abs(x);
  return size < beta ? T(0.5) * x * x / beta : size - T(0.5) * beta;
}

__global__ void work(const float* in, float* out) {
  const float x = in[threadIdx.x];
  float* own = out + 8 * threadIdx.x;
  own[0] = loss(x, 1.0f);
  own[1] = max(x, 0.25f) + min(x, -0.25f);
  own[2] = std::abs(x) + fabs(x);
  own[3] = max(static_cast<double>(x), 0.5) * 2;
  own[4] = abs(static_cast<int>(x * 4)) + labs(-3l) + llabs(-4ll);
  own[5] = abs(static_cast<double>(x)) + abs(-7ll);
  own[6] = pow(2.0f, 3) + floor(x) + round(x) + std::fmax(x, 1.5f);
  own[7] = signbit(x) + isnan(x) + std::isinf(x / 0.0f) + isfinite(x);
}

int main() {
  float *in, *out;
  cudaMallocManaged(&in, 3 * sizeof(float));
  cudaMallocManaged(&out, 24 * sizeof(float));
  in[0] = -0.75f, in[1] = 2.5f, in[2] = 0.5f;
  work<<<1, 3>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 24; i++) printf("%g%c", out[i], i % 8 == 7 ? '\n' : ' ');
  printf("%g %g\n", loss(-0.75f, 1.0f), loss(-3.0, 1.0));
}
