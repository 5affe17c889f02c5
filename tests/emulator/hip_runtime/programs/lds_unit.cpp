// The unit in which LDS is given out: a workgroup that asks for 4 bytes has all of one
// (`lds_unit.co`).
#include <hip/hip_runtime_api.h>

#include <cstdio>

#include "expect.hpp"

int main() {
  hipModule_t module = nullptr;
  hipFunction_t kernel = nullptr;
  OK(hipModuleLoad(&module, "lds_unit.co"));
  OK(hipModuleGetFunction(&kernel, module, "written_bytes"));
  unsigned* out = nullptr;
  OK(hipMallocManaged(reinterpret_cast<void**>(&out), sizeof *out, hipMemAttachGlobal));
  void* arguments[] = {&out};
  OK(hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  OK(hipDeviceSynchronize());
  std::printf("%u bytes\n", *out);
  return report();
}
