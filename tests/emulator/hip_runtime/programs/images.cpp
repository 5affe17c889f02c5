// Loads the files that it is given as modules and prints what HIP says of each.
#include <hip/hip_runtime_api.h>

#include <cstdio>

int main(int count, char** files) {
  int refused = 0;
  for (int i = 1; i < count; ++i) {
    hipModule_t module = nullptr;
    const hipError_t error = hipModuleLoad(&module, files[i]);
    std::printf("%s %s\n", files[i], hipGetErrorName(error));
    refused += error != hipSuccess;
  }
  return refused;
}
