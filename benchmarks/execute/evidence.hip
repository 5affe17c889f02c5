// What the device process costs: an argument names the work, a second one how often.
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call) \
  if (const hipError_t error = (call); error != hipSuccess) return static_cast<int>(error)

__global__ void add_one(int* values) { values[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

__global__ void iterate(float* values, int steps) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  float x = values[index];
  for (int k = 0; k < steps; ++k) x = x * 0.999F + 0.25F;
  values[index] = x;
}

__global__ void gather(const int* __restrict__ from, const int* __restrict__ index, int* to, int n,
                       int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0, at = i;
  for (int k = 0; k < steps; ++k) sum += from[at = index[at]];
  if (i < n) to[i] = sum;
}

__global__ void stream(const float* a, const float* b, float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    c[i] = a[i] * 3.0F + b[i];
  }
}

constexpr int small = 256;

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "start";
  const int times = count > 2 ? std::atoi(arguments[2]) : 1;
  const auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  int* d = nullptr;
  std::vector<int> h(1 << 24);
  CHECK(hipMalloc(&d, h.size() * sizeof(int)));
  CHECK(hipMemset(d, 0, small * sizeof(int)));
  const auto start = std::chrono::steady_clock::now();
  if (is("start")) {
    add_one<<<1, small>>>(d);
  } else if (is("launch")) {
    for (int k = 0; k < times; ++k) {
      add_one<<<1, small>>>(d);
      CHECK(hipDeviceSynchronize());
    }
  } else if (is("queue")) {
    for (int k = 0; k < times; ++k) add_one<<<1, small>>>(d);
  } else if (is("copy_small")) {
    for (int k = 0; k < times; ++k) CHECK(hipMemcpy(h.data(), d, 1024, hipMemcpyDeviceToHost));
  } else if (is("allocate")) {
    for (int k = 0; k < times; ++k) {
      int* block = nullptr;
      CHECK(hipMalloc(&block, 4096));
      CHECK(hipFree(block));
    }
  } else if (is("copy_large")) {
    const std::size_t bytes = h.size() * sizeof(int);
    for (int k = 0; k < times; ++k) {
      CHECK(hipMemcpy(d, h.data(), bytes, hipMemcpyHostToDevice));
      CHECK(hipMemcpy(h.data(), d, bytes, hipMemcpyDeviceToHost));
    }
  } else if (is("arithmetic")) {
    iterate<<<1024, 256>>>(reinterpret_cast<float*>(d), times);
  } else if (is("gather")) {
    const int n = 1 << 20;
    for (int k = 0; k < n; ++k) h[k] = static_cast<int>((k * 40503ULL + 12345) % n);
    CHECK(hipMemcpy(d, h.data(), n * sizeof(int), hipMemcpyHostToDevice));
    gather<<<n / 256, 256>>>(d, d, d + 2 * n, n, times);
  } else if (is("stream")) {
    const int n = 1 << 22;
    auto* f = reinterpret_cast<float*>(d);
    for (int k = 0; k < times; ++k) stream<<<256, 256>>>(f, f + n, f + 2 * n, n);
  } else {
    return 2;
  }
  CHECK(hipDeviceSynchronize());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%.9f\n", seconds.count());
}
