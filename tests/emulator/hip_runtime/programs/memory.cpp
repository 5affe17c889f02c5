// Allocation, attributes, copies of all kinds, fills. No kernel needed.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "expect.hpp"

// Bytes that the kernel calls available; 0 where it does not say.
static std::size_t machine_available() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);)
    if (line.compare(0, 13, "MemAvailable:") == 0) return std::stoull(line.substr(13)) * 1024;
  return 0;
}

static void allocations() {
  void* memory = nullptr;
  EXPECT_HIP(hipErrorInvalidValue, hipMalloc(static_cast<void**>(nullptr), 16));
  OK(hipMalloc(&memory, 0));
  EXPECT(memory == nullptr);
  OK(hipFree(nullptr));
  OK(hipMalloc(&memory, 100));
  EXPECT(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0);
  EXPECT_HIP(hipErrorInvalidValue, hipFree(static_cast<char*>(memory) + 4));
  OK(hipFree(memory));
  EXPECT_HIP(hipErrorInvalidValue, hipFree(memory));
  int local = 0;
  EXPECT_HIP(hipErrorInvalidValue, hipFree(&local));
  EXPECT_HIP(hipErrorOutOfMemory, hipMalloc(&memory, std::size_t{1} << 45));
  std::size_t available = 0;
  std::size_t total = 0;
  OK(hipMemGetInfo(&available, &total));
  std::size_t alone = 0;
  OK(hipMemGetInfo(&alone, nullptr));
  EXPECT(alone == available);
  OK(hipMemGetInfo(nullptr, &alone));
  EXPECT(alone == total);
  OK(hipMemGetInfo(nullptr, nullptr));
  EXPECT(available <= total && total > (std::size_t{16} << 30));
  // Pages of files that the machine holds and can drop count as free: half is for what changes.
  EXPECT(available >= std::min(total, machine_available()) / 2);
  std::size_t left = 0;
  OK(hipMalloc(&memory, 1 << 20));
  OK(hipMemGetInfo(&left, &total));
  EXPECT(left == available - (1 << 20));
  OK(hipFree(memory));
  OK(hipMemGetInfo(&left, &total));
  EXPECT(left == available);
}

static void attributes() {
  void* device = nullptr;
  void* pinned = nullptr;
  void* managed = nullptr;
  OK(hipMalloc(&device, 64));
  OK(hipHostMalloc(&pinned, 64, hipHostMallocMapped));
  OK(hipMallocManaged(&managed, 64, hipMemAttachGlobal));
  hipPointerAttribute_t found;
  OK(hipPointerGetAttributes(&found, static_cast<char*>(device) + 63));
  EXPECT(found.type == hipMemoryTypeDevice && found.device == 0 && !found.isManaged);
  OK(hipPointerGetAttributes(&found, pinned));
  EXPECT(found.type == hipMemoryTypeHost && found.hostPointer == pinned);
  EXPECT(found.allocationFlags == hipHostMallocMapped);
  OK(hipPointerGetAttributes(&found, managed));
  EXPECT(found.type == hipMemoryTypeManaged && found.isManaged);
  int local = 0;
  OK(hipPointerGetAttributes(&found, &local));
  EXPECT(found.type == hipMemoryTypeUnregistered);
  void* mapped = nullptr;
  OK(hipHostGetDevicePointer(&mapped, pinned, 0));
  std::strcpy(static_cast<char*>(pinned), "shared");
  char text[7] = {};
  OK(hipMemcpy(text, mapped, 7, hipMemcpyDeviceToHost));
  EXPECT(std::strcmp(text, "shared") == 0);
  EXPECT_HIP(hipErrorInvalidValue, hipHostGetDevicePointer(&mapped, &local, 0));
  hipDeviceptr_t base = nullptr;
  std::size_t size = 0;
  OK(hipMemGetAddressRange(&base, &size, static_cast<char*>(device) + 10));
  EXPECT(base == device && size == 64);
  EXPECT_HIP(hipErrorInvalidValue, hipHostFree(device));
  OK(hipHostFree(pinned));
  OK(hipFree(managed));
  OK(hipFree(device));
}

static void registered() {
  std::vector<int> values(100, 7);
  const auto bytes = values.size() * sizeof(int);
  OK(hipHostRegister(values.data(), bytes, hipHostRegisterDefault));
  EXPECT_HIP(hipErrorHostMemoryAlreadyRegistered,
             hipHostRegister(values.data() + 1, 8, hipHostRegisterDefault));
  hipPointerAttribute_t found;
  OK(hipPointerGetAttributes(&found, values.data() + 3));
  EXPECT(found.type == hipMemoryTypeHost);
  OK(hipHostUnregister(values.data()));
  EXPECT_HIP(hipErrorHostMemoryNotRegistered, hipHostUnregister(values.data()));
}

static void copies() {
  std::vector<int> from(1000);
  std::iota(from.begin(), from.end(), 1);
  std::vector<int> to(1000);
  const auto bytes = from.size() * sizeof(int);
  int* first = nullptr;
  int* second = nullptr;
  OK(hipMalloc(reinterpret_cast<void**>(&first), bytes));
  OK(hipMalloc(reinterpret_cast<void**>(&second), bytes));
  OK(hipMemcpy(first, from.data(), bytes, hipMemcpyHostToDevice));
  OK(hipMemcpy(second, first, bytes, hipMemcpyDeviceToDevice));
  OK(hipMemcpy(to.data(), second, bytes, hipMemcpyDeviceToHost));
  EXPECT(to == from);
  OK(hipMemset(second, 0xab, 8));
  OK(hipMemcpy(to.data(), second, bytes, hipMemcpyDefault));
  EXPECT(to[0] == static_cast<int>(0xabababab) && to[1] == to[0] && to[2] == 3);
  OK(hipMemsetD16(second, 0x1234, 3));
  OK(hipMemsetD32(second + 2, -5, 2));
  OK(hipMemcpy(to.data(), second, bytes, hipMemcpyDefault));
  EXPECT(to[0] == 0x12341234 && to[1] == static_cast<int>(0xabab1234));
  EXPECT(to[2] == -5 && to[3] == -5 && to[4] == 5);
  OK(hipMemcpy(nullptr, nullptr, 0, hipMemcpyHostToDevice));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(nullptr, from.data(), 4, hipMemcpyHostToDevice));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(first, from.data(), bytes + 1, hipMemcpyHostToDevice));
  EXPECT_HIP(hipErrorInvalidMemcpyDirection,
             hipMemcpy(first, from.data(), 4, static_cast<hipMemcpyKind>(77)));
  EXPECT_HIP(hipErrorInvalidValue, hipMemset(first, 0, bytes + 1));
  int local = 0;
  EXPECT_HIP(hipErrorInvalidValue, hipMemset(&local, 0, 4));
  OK(hipFree(first));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(to.data(), first, 4, hipMemcpyDeviceToHost));
  OK(hipFree(second));
}

static void rows() {
  constexpr std::size_t width = 10;
  constexpr std::size_t height = 4;
  void* memory = nullptr;
  std::size_t pitch = 0;
  OK(hipMallocPitch(&memory, &pitch, width, height));
  EXPECT(pitch >= width && pitch % 256 == 0);
  std::vector<char> from(width * height);
  std::iota(from.begin(), from.end(), 1);
  std::vector<char> to(width * height);
  OK(hipMemcpy2D(memory, pitch, from.data(), width, width, height, hipMemcpyHostToDevice));
  OK(hipMemset2D(static_cast<char*>(memory) + pitch, pitch, 99, 3, 2));
  OK(hipMemcpy2D(to.data(), width, memory, pitch, width, height, hipMemcpyDeviceToHost));
  EXPECT(to[0] == 1 && to[width] == 99 && to[width + 2] == 99 && to[width + 3] == from[width + 3]);
  EXPECT(to[2 * width] == 99 && to[3 * width] == from[3 * width]);
  EXPECT_HIP(hipErrorInvalidPitchValue, hipMemcpy2D(memory, width - 1, from.data(), width, width,
                                                    height, hipMemcpyHostToDevice));
  OK(hipFree(memory));

  const auto extent = make_hipExtent(6, 3, 2);
  hipPitchedPtr box{};
  OK(hipMalloc3D(&box, extent));
  OK(hipMemset3D(box, 5, extent));
  std::vector<char> inside(2 * 2 * 2, 8);
  hipMemcpy3DParms copy{};
  copy.srcPtr = make_hipPitchedPtr(inside.data(), 2, 2, 2);
  copy.dstPtr = box;
  copy.dstPos = make_hipPos(1, 1, 0);
  copy.extent = make_hipExtent(2, 2, 2);
  copy.kind = hipMemcpyHostToDevice;
  OK(hipMemcpy3D(&copy));
  std::vector<char> all(6 * 3 * 2);
  hipMemcpy3DParms back{};
  back.srcPtr = box;
  back.dstPtr = make_hipPitchedPtr(all.data(), 6, 6, 3);
  back.extent = extent;
  back.kind = hipMemcpyDeviceToHost;
  OK(hipMemcpy3D(&back));
  int eights = 0;
  for (const char value : all) eights += value == 8;
  EXPECT(eights == 8 && all[0] == 5 && all[6 + 1] == 8 && all[18 + 6 + 1] == 8);
  OK(hipFree(box.ptr));
}

static void arrays() {
  hipArray_t array = nullptr;
  const auto channels = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
  OK(hipMallocArray(&array, &channels, 4, 3, hipArrayDefault));
  std::vector<float> from(12);
  std::iota(from.begin(), from.end(), 0.5f);
  std::vector<float> to(12);
  OK(hipMemcpy2DToArray(array, 0, 0, from.data(), 16, 16, 3, hipMemcpyHostToDevice));
  OK(hipMemcpy2DFromArray(to.data(), 16, array, 0, 0, 16, 3, hipMemcpyDeviceToHost));
  EXPECT(to == from);
  hipChannelFormatDesc found{};
  hipExtent extent{};
  OK(hipArrayGetInfo(&found, &extent, nullptr, array));
  EXPECT(found.x == 32 && extent.width == 4 && extent.height == 3);
  OK(hipFreeArray(array));
  EXPECT_HIP(hipErrorContextIsDestroyed, hipFreeArray(array));
}

int main() {
  allocations();
  attributes();
  registered();
  copies();
  rows();
  arrays();
  return report();
}
