// What the device says of itself.
#include <cstring>

#include "expect.hpp"

static int attribute(hipDeviceAttribute_t which) {
  int value = -1;
  OK(hipDeviceGetAttribute(&value, which, 0));
  return value;
}

int main() {
  hipDeviceProp_t properties;
  OK(hipGetDeviceProperties(&properties, 0));
  EXPECT(std::strcmp(properties.name, "AMD Radeon RX 7900 XT") == 0);
  EXPECT(std::strcmp(properties.gcnArchName, "gfx1100") == 0);
  EXPECT(properties.warpSize == 32 && properties.multiProcessorCount == 42);
  EXPECT(properties.major == 11 && properties.minor == 0);
  EXPECT(properties.sharedMemPerBlock == 65536 && properties.maxThreadsPerBlock == 1024);
  EXPECT(properties.maxGridSize[0] == 2147483647);
  EXPECT(attribute(hipDeviceAttributeWarpSize) == properties.warpSize);
  EXPECT(attribute(hipDeviceAttributeMultiprocessorCount) == properties.multiProcessorCount);
  EXPECT(attribute(hipDeviceAttributeMaxBlockDimZ) == properties.maxThreadsDim[2]);
  EXPECT(attribute(hipDeviceAttributeComputeCapabilityMajor) == 11);
  EXPECT(attribute(hipDeviceAttributeMaxSharedMemoryPerBlock) == 65536);
  EXPECT(attribute(hipDeviceAttributeCooperativeLaunch) == 1);
  EXPECT(attribute(hipDeviceAttributeImageSupport) == 1);  // RDNA has image instructions
  EXPECT_HIP(hipErrorInvalidDevice, hipGetDeviceProperties(&properties, 1));
  int value = 0;
  EXPECT_HIP(hipErrorInvalidDevice, hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 1));
  EXPECT_HIP(hipErrorInvalidValue,
             hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(9000), 0));
  char name[8];
  OK(hipDeviceGetName(name, sizeof name, 0));
  EXPECT(std::strcmp(name, "AMD Rad") == 0);
  char bus[16];
  int device = -1;
  OK(hipDeviceGetPCIBusId(bus, sizeof bus, 0));
  OK(hipDeviceGetByPCIBusId(&device, bus));
  EXPECT(device == 0);
  std::size_t limit = 0;
  OK(hipDeviceGetLimit(&limit, hipLimitStackSize));
  EXPECT(limit == 1024);
  OK(hipDeviceSetLimit(hipLimitStackSize, 8192));
  OK(hipDeviceGetLimit(&limit, hipLimitStackSize));
  EXPECT(limit == 8192);
  int can_access = -1;
  OK(hipDeviceCanAccessPeer(&can_access, 0, 0));
  EXPECT(can_access == 0);
  int version = 0;
  OK(hipRuntimeGetVersion(&version));
  EXPECT(version / 10000000 == 6);
  return report();
}
