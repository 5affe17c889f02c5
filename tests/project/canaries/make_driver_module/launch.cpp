#include <cuda.h>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
static void check(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorName(result, &text);
  throw std::runtime_error(text ? text : "?");
}
int main(int, char** arguments) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  check(cuInit(0));
  check(cuDeviceGet(&device, 0));
  check(cuCtxCreate(&context, 0, device));
  check(cuModuleLoad(&module, arguments[1]));
  check(cuModuleGetFunction(&function, module, "scale"));
  CUdeviceptr factor, memory;
  size_t size;
  check(cuModuleGetGlobal(&factor, &size, module, "factor"));
  const float three = 3;
  check(cuMemcpyHtoD(factor, &three, sizeof(three)));
  int n = 5;
  std::vector<float> values{1, 2, 3, 4, 5};
  check(cuMemAlloc(&memory, n * sizeof(float)));
  check(cuMemcpyHtoD(memory, values.data(), n * sizeof(float)));
  void* parameters[] = {&memory, &n};
  check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  check(cuCtxSynchronize());
  check(cuMemcpyDtoH(values.data(), memory, n * sizeof(float)));
  for (float value : values) std::cout << value << ' ';
  try {
    check(cuModuleGetFunction(&function, module, "nothing"));
  } catch (const std::runtime_error&) {
    std::cout << "not there" << std::endl;
  }
  check(cuModuleUnload(module));
  check(cuCtxDestroy(context));
}
