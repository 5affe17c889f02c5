// A kernel that is compiled while the program runs, for a factor that it is told.
#include <cuda.h>
#include <nvrtc.h>

#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const char* const source = R"(
extern "C" __global__ void scale(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= FACTOR;
}
)";

void check(CUresult result, const std::string& what) {
  if (result != CUDA_SUCCESS) throw std::runtime_error(what);
}

std::vector<char> compiled(int factor) {
  nvrtcProgram program;
  nvrtcCreateProgram(&program, source, "scale.cu", 0, nullptr, nullptr);
  const std::string definition = "-DFACTOR=" + std::to_string(factor);
  const char* options[] = {definition.c_str()};
  if (nvrtcCompileProgram(program, 1, options) != NVRTC_SUCCESS) {
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, ' ');
    nvrtcGetProgramLog(program, log.data());
    throw std::runtime_error(log);
  }
  std::size_t size = 0;
  nvrtcGetPTXSize(program, &size);
  std::vector<char> code(size);
  nvrtcGetPTX(program, code.data());
  nvrtcDestroyProgram(&program);
  return code;
}

}  // namespace

int main() try {
  CUdevice device;
  CUcontext context;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuCtxCreate(&context, 0, device), "cuCtxCreate");
  const std::vector<char> code = compiled(3);
  CUmodule module;
  CUfunction kernel;
  check(cuModuleLoadData(&module, code.data()), "cuModuleLoadData");
  check(cuModuleGetFunction(&kernel, module, "scale"), "cuModuleGetFunction");
  std::vector<float> values(100);
  for (int i = 0; i < 100; i++) values[i] = static_cast<float>(i);
  CUdeviceptr memory;
  int count = 100;
  check(cuMemAlloc(&memory, count * sizeof(float)), "cuMemAlloc");
  check(cuMemcpyHtoD(memory, values.data(), count * sizeof(float)), "cuMemcpyHtoD");
  void* arguments[] = {&memory, &count};
  check(cuLaunchKernel(kernel, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), "cuLaunchKernel");
  check(cuMemcpyDtoH(values.data(), memory, count * sizeof(float)), "cuMemcpyDtoH");
  std::cout << "values[7] = " << values[7] << ", values[99] = " << values[99] << "\n";
} catch (const std::exception& error) {
  std::cout << "failed: " << error.what() << "\n";
  return 1;
}
