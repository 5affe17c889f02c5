// Kernels that find arguments in SGPRs from the start, of the code object `preload.co`.
#include <hip/hip_runtime_api.h>

#include <cstddef>

#include "expect.hpp"

namespace {

constexpr int threads = 100;

void check(hipModule_t module, const char* name, int a, int b) {
  hipFunction_t kernel = nullptr;
  OK(hipModuleGetFunction(&kernel, module, name));
  int* out = nullptr;
  OK(hipMallocManaged(reinterpret_cast<void**>(&out), threads * sizeof(int), hipMemAttachGlobal));
  struct {
    int* out;
    int a, b;
  } arguments{out, a, b};
  std::size_t size = sizeof arguments;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  OK(hipModuleLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, nullptr, nullptr, extra));
  OK(hipDeviceSynchronize());
  for (int i = 0; i < threads; ++i) EXPECT(out[i] == a + 2 * b);
  OK(hipFree(out));
}

}  // namespace

int main() {
  hipModule_t module = nullptr;
  OK(hipModuleLoad(&module, "preload.co"));
  check(module, "from_the_start", 5, 700);
  check(module, "behind", -9, 40);
  OK(hipModuleUnload(module));
  return report();
}
