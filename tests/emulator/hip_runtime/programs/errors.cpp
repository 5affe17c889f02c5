// The last error of a thread, names and texts, entry points that are not there.
#include <cstdio>
#include <cstring>
#include <thread>

#include "expect.hpp"

int main(int argc, char**) {
  if (argc > 1) {  // a table for the test to compare with the header
    for (int code = 0; code <= 1100; ++code) {
      const auto error = static_cast<hipError_t>(code);
      if (error == hipErrorUnknown || std::strcmp(hipGetErrorName(error), "hipErrorUnknown") != 0) {
        std::printf("%d\t%s\t%s\n", code, hipGetErrorName(error), hipGetErrorString(error));
      }
    }
    return 0;
  }
  OK(hipGetLastError());
  int count = 0;
  EXPECT_HIP(hipErrorInvalidDevice, hipSetDevice(7));
  OK(hipGetDeviceCount(&count));
  EXPECT(count == 1);
  EXPECT_HIP(hipErrorInvalidDevice, hipPeekAtLastError());
  std::thread([] { OK(hipGetLastError()); }).join();
  EXPECT_HIP(hipErrorInvalidDevice, hipGetLastError());
  OK(hipGetLastError());
  hipIpcMemHandle_t handle;
  EXPECT_HIP(hipErrorNotSupported, hipIpcGetMemHandle(&handle, nullptr));
  EXPECT_HIP(hipErrorNotSupported, hipIpcGetMemHandle(&handle, nullptr));
  EXPECT_HIP(hipErrorNotSupported, hipGetLastError());
  return report();
}
