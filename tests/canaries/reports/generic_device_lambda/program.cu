// Lambdas are made in kernels and on the host, with captures, auto and attributes.
#include <cstdio>

template <typename F>
__global__ void run(F function, float* out) {
  out[threadIdx.x] = function(static_cast<int>(threadIdx.x));
}

template <int size, typename T, typename F>
__device__ T fold(T start, F function) {
  T value = start;
  for (int i = 0; i < size; i++) value = function(value, i);
  return value;
}

__global__ void inside(float* out) {
  const float scale = out[threadIdx.x];
  out[threadIdx.x] = fold<4>(1.0f, [&](auto a, auto b) { return a + scale * b; });
  const auto twice = [](auto x) { return x * 2; };
  if (threadIdx.x == 0) out[0] = twice(out[0]) + twice(3);
}

struct Model {
  float bias;
  void apply(float* out, float factor) const {
    const float own = bias;
    run<<<1, 4>>>([=] __device__(auto i) { return own + factor * i; }, out);
  }
};

int main() {
  float* out;
  cudaMallocManaged(&out, 4 * sizeof(float));
  Model{0.5f}.apply(out, 2.0f);
  cudaDeviceSynchronize();
  printf("%g %g %g %g\n", out[0], out[1], out[2], out[3]);
  inside<<<1, 4>>>(out);
  cudaDeviceSynchronize();
  printf("%g %g %g %g\n", out[0], out[1], out[2], out[3]);
  const auto both = [] __host__ __device__(int i) { return i * 1.5f; };
  run<<<1, 4>>>(both, out);
  cudaDeviceSynchronize();
  printf("%g %g\n", out[3], both(2));
}
