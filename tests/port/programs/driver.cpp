// The driver interface: a module of PTX, of a cubin or of a fat binary, in the file that is named.
#include <cuda.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "expect.h"

namespace {

void check(CUresult result, int line) {
  if (result == CUDA_SUCCESS) return;
  const char *name = "?";
  cuGetErrorName(result, &name);
  std::printf("line %d: %s\n", line, name);
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

std::vector<char> content(const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  bytes.push_back(0);
  return bytes;
}

constexpr int count = 100;

// scale(values, n): values[i] = values[i] * factor + i, where factor is a variable of the module.
void launched(CUfunction scale, CUmodule module, int way) {
  CUdeviceptr factor, memory;
  std::size_t bytes = 0;
  CHECK(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
  EXPECT(bytes == sizeof(int));
  const int three = 3;
  CHECK(cuMemcpyHtoD(factor, &three, sizeof three));
  std::vector<int> values(count);
  for (int i = 0; i < count; ++i) values[i] = i - 50;
  CHECK(cuMemAlloc(&memory, count * sizeof(int)));
  CHECK(cuMemcpyHtoD(memory, values.data(), count * sizeof(int)));
  int n = count;
  void *parameters[] = {&memory, &n};
  struct {
    CUdeviceptr memory;
    int n;
  } packed{memory, n};
  std::size_t packed_bytes = sizeof packed;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_bytes,
                   CU_LAUNCH_PARAM_END};
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUlaunchConfig given{};
  given.gridDimX = 2;
  given.blockDimX = 64;
  given.gridDimY = given.gridDimZ = given.blockDimY = given.blockDimZ = 1;
  given.hStream = stream;
  if (way == 0) CHECK(cuLaunchKernel(scale, 2, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr));
  if (way == 1) CHECK(cuLaunchKernel(scale, 2, 1, 1, 64, 1, 1, 0, stream, nullptr, extra));
  if (way == 2) {
    CHECK(cuLaunchKernelEx(&given, scale, parameters, nullptr));
    CUlaunchAttribute together{};
    together.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    together.value.cooperative = 1;
    given.attrs = &together;
    given.numAttrs = 1;
    EXPECT(cuLaunchKernelEx(&given, scale, nullptr, extra) == CUDA_ERROR_NOT_SUPPORTED);
  }
  if (way == 3) {  // the event of a launch stands for it
    CUevent ended;
    CHECK(cuEventCreate(&ended, CU_EVENT_DISABLE_TIMING));
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    attribute.value.launchCompletionEvent.event = ended;
    given.attrs = &attribute;
    given.numAttrs = 1;
    std::atomic<bool> may_go_on = false;
    CHECK(cuLaunchHostFunc(
        stream, [](void *data) { while (!*static_cast<std::atomic<bool> *>(data)) std::this_thread::yield(); },
        &may_go_on));
    CHECK(cuLaunchKernelEx(&given, scale, parameters, nullptr));
    EXPECT(cuEventQuery(ended) == CUDA_ERROR_NOT_READY);
    may_go_on = true;
    CHECK(cuEventSynchronize(ended));
    CHECK(cuEventDestroy(ended));
  }
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuMemcpyDtoH(values.data(), memory, count * sizeof(int)));
  for (int i = 0; i < count; ++i) EXPECT(values[i] == (i - 50) * 3 + i);
  CHECK(cuStreamDestroy(stream));
  CHECK(cuMemFree(memory));
}

}  // namespace

int main(int, char **arguments) {
  CUdevice device;
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  int warp = 0;
  CHECK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  EXPECT(warp == 32);

  CUmodule module;
  const auto image = content(arguments[1]);
  CHECK(cuModuleLoadData(&module, image.data()));
  CUfunction scale;
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  EXPECT(cuModuleGetFunction(&scale, module, "absent") == CUDA_ERROR_NOT_FOUND);
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  int version = 0;
  CHECK(cuFuncGetAttribute(&version, CU_FUNC_ATTRIBUTE_BINARY_VERSION, scale));
  for (int way = 0; way < 4; ++way) launched(scale, module, way);
  CHECK(cuModuleUnload(module));

  CUlibrary library;
  CUkernel kernel;
  CHECK(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cuLibraryGetKernel(&kernel, library, "scale"));
  CHECK(cuLibraryGetModule(&module, library));
  CHECK(cuKernelGetFunction(&scale, kernel));
  launched(scale, module, 0);
  CHECK(cuLibraryUnload(library));

  char log[400] = "";
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  const auto wrong = cuModuleLoadDataEx(&module, ".version 8.0\n.target sm_80\n.address_size 64\nrubbish\n",
                                        2, names, values);
  EXPECT(wrong == CUDA_ERROR_INVALID_PTX);
  EXPECT(std::strstr(log, "ptxas") != nullptr);
  EXPECT(reinterpret_cast<std::size_t>(values[1]) == std::strlen(log));

  void *entry = nullptr;
  CUdriverProcAddressQueryResult status;
  CHECK(cuGetProcAddress("cuMemAlloc", &entry, 13000, 0, &status));
  EXPECT(entry == reinterpret_cast<void *>(&cuMemAlloc) && status == CU_GET_PROC_ADDRESS_SUCCESS);
  CHECK(cuDevicePrimaryCtxRelease(device));
  std::printf("%d\n", version);
}
