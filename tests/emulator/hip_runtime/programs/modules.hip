// HIPRTC and the module API: code that the program compiles and loads itself.
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>

#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"

#define RTC(expected, call) EXPECT((call) == (expected))

static const char source[] = R"(
#include "factor.h"
__device__ int bias = 3;
extern "C" __global__ void scale(int* values, int count) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) values[index] = values[index] * FACTOR + bias;
}
template <typename T, int N> __global__ void fill(T* values) { values[threadIdx.x] = T(N); }
)";

static std::vector<char> compiled(std::string* lowered) {
  const char* headers[] = {"#define FACTOR MULTIPLIER\n"};
  const char* names[] = {"factor.h"};
  const char* options[] = {"-DMULTIPLIER=7", "--gpu-architecture=gfx1100", "-std=c++17"};
  hiprtcProgram program = nullptr;
  RTC(HIPRTC_SUCCESS, hiprtcCreateProgram(&program, source, "scale.hip", 1, headers, names));
  RTC(HIPRTC_SUCCESS, hiprtcAddNameExpression(program, "&fill<float, 9>"));
  RTC(HIPRTC_SUCCESS, hiprtcAddNameExpression(program, "&bias"));
  const auto result = hiprtcCompileProgram(program, 3, options);
  if (result != HIPRTC_SUCCESS) {
    std::size_t size = 0;
    RTC(HIPRTC_SUCCESS, hiprtcGetProgramLogSize(program, &size));
    std::string log(size, ' ');
    RTC(HIPRTC_SUCCESS, hiprtcGetProgramLog(program, log.data()));
    std::printf("%s: %s\n", hiprtcGetErrorString(result), log.c_str());
    ++failures;
    return {};
  }
  const char* name = nullptr;
  RTC(HIPRTC_SUCCESS, hiprtcGetLoweredName(program, "&bias", &name));
  EXPECT(name != nullptr && std::strcmp(name, "bias") == 0);
  RTC(HIPRTC_SUCCESS, hiprtcGetLoweredName(program, "&fill<float, 9>", &name));
  if (name != nullptr) *lowered = name;
  RTC(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID, hiprtcGetLoweredName(program, "&other", &name));
  std::size_t size = 0;
  RTC(HIPRTC_SUCCESS, hiprtcGetCodeSize(program, &size));
  std::vector<char> code(size);
  RTC(HIPRTC_SUCCESS, hiprtcGetCode(program, code.data()));
  RTC(HIPRTC_SUCCESS, hiprtcDestroyProgram(&program));
  return code;
}

static void mistakes() {
  hiprtcProgram program = nullptr;
  RTC(HIPRTC_SUCCESS,
      hiprtcCreateProgram(&program, "__global__ void f() { nonsense; }", "f", 0, nullptr, nullptr));
  RTC(HIPRTC_ERROR_COMPILATION, hiprtcCompileProgram(program, 0, nullptr));
  std::size_t size = 0;
  RTC(HIPRTC_SUCCESS, hiprtcGetProgramLogSize(program, &size));
  std::string log(size, ' ');
  RTC(HIPRTC_SUCCESS, hiprtcGetProgramLog(program, log.data()));
  EXPECT(log.find("nonsense") != std::string::npos);
  RTC(HIPRTC_SUCCESS, hiprtcDestroyProgram(&program));
  RTC(HIPRTC_ERROR_INVALID_PROGRAM, hiprtcDestroyProgram(&program));
}

int main() {
  std::string fill_name;
  const auto code = compiled(&fill_name);
  if (code.empty()) return report();
  hipModule_t module = nullptr;
  OK(hipModuleLoadData(&module, code.data()));
  hipFunction_t scale = nullptr;
  hipFunction_t fill = nullptr;
  OK(hipModuleGetFunction(&scale, module, "scale"));
  OK(hipModuleGetFunction(&fill, module, fill_name.c_str()));
  hipFunction_t none = nullptr;
  EXPECT_HIP(hipErrorNotFound, hipModuleGetFunction(&none, module, "nothing"));
  hipDeviceptr_t bias = nullptr;
  std::size_t size = 0;
  OK(hipModuleGetGlobal(&bias, &size, module, "bias"));
  EXPECT(size == sizeof(int));
  EXPECT_HIP(hipErrorNotFound, hipModuleGetGlobal(&bias, &size, module, "nothing"));
  const int changed = -1;
  OK(hipMemcpyHtoD(bias, const_cast<int*>(&changed), 4));

  int values[40];
  for (int index = 0; index < 40; ++index) values[index] = index;
  void* memory = nullptr;
  OK(hipMalloc(&memory, sizeof values));
  OK(hipMemcpyHtoD(memory, values, sizeof values));
  int count = 40;
  void* arguments[] = {&memory, &count};
  OK(hipModuleLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  struct {
    void* values;
    int count;
  } packed{memory, 1};
  std::size_t bytes = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  OK(hipModuleLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  OK(hipMemcpyDtoH(values, memory, sizeof values));
  EXPECT(values[0] == -8 && values[1] == 6 && values[39] == 272);
  float floats[4] = {};
  void* just_memory[] = {&memory};
  OK(hipModuleLaunchKernel(fill, 1, 1, 1, 4, 1, 1, 0, nullptr, just_memory, nullptr));
  OK(hipMemcpyDtoH(floats, memory, sizeof floats));
  EXPECT(floats[0] == 9.0f && floats[3] == 9.0f);
  EXPECT_HIP(hipErrorInvalidValue,
             hipModuleLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  OK(hipFree(memory));
  OK(hipModuleUnload(module));
  EXPECT_HIP(hipErrorNotFound, hipModuleUnload(module));
  const char not_code[64] = "something else";
  EXPECT_HIP(hipErrorInvalidImage, hipModuleLoadData(&module, not_code));
  EXPECT_HIP(hipErrorFileNotFound, hipModuleLoad(&module, "/nowhere/module.co"));
  mistakes();
  return report();
}
