// Two devices of different kinds in one process: device 0 has wavefronts of 32 lanes, device 1
// of 64.
#include <hip/hip_runtime.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "expect.hpp"

static const int lanes[] = {32, 64};
static const char* const processors[] = {"gfx1100", "gfx942"};

__device__ int bias = 5;
__managed__ int shared_by_all = 1;

// The lane's number, the wavefront's width and the variable of the device that it runs on.
__global__ void describe(int* out) {
  const int lane = __lane_id();
  out[threadIdx.x] = 10000 * bias + 100 * warpSize + lane;
}

__global__ void add(int* values, const int* others, int count) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) values[index] += others[index];
}

__global__ void count_up() { atomicAdd_system(&shared_by_all, 10); }

static void use(int device) { OK(hipSetDevice(device)); }

static void properties() {
  int count = 0;
  OK(hipGetDeviceCount(&count));
  EXPECT(count == 2);
  hipUUID ids[2];
  for (int device = 0; device < 2; ++device) {
    hipDeviceProp_t found;
    OK(hipGetDeviceProperties(&found, device));
    EXPECT(found.warpSize == lanes[device]);
    EXPECT(std::string(found.gcnArchName).rfind(processors[device], 0) == 0);
    int width = 0;
    OK(hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, device));
    EXPECT(width == lanes[device]);
    OK(hipDeviceGetUuid(&ids[device], device));
    char bus[16];
    int by_bus = -1;
    OK(hipDeviceGetPCIBusId(bus, sizeof bus, device));
    OK(hipDeviceGetByPCIBusId(&by_bus, bus));
    EXPECT(by_bus == device);
  }
  EXPECT(std::memcmp(&ids[0], &ids[1], sizeof ids[0]) != 0);
  hipDeviceProp_t wanted{};
  int chosen = -1;
  wanted.warpSize = 64;
  OK(hipChooseDevice(&chosen, &wanted));
  EXPECT(chosen == 1);
  EXPECT_HIP(hipErrorInvalidDevice, hipSetDevice(2));
  EXPECT_HIP(hipErrorInvalidDevice, hipSetDevice(-1));
}

// Each thread begins at device 0; what one sets is no other's.
static void threads() {
  use(1);
  int there = -1;
  std::thread([&] { OK(hipGetDevice(&there)); }).join();
  EXPECT(there == 0);
  int here = -1;
  OK(hipGetDevice(&here));
  EXPECT(here == 1);
  hipCtx_t context = nullptr;
  OK(hipDevicePrimaryCtxRetain(&context, 0));
  OK(hipCtxPushCurrent(context));
  OK(hipGetDevice(&here));
  EXPECT(here == 0);
  OK(hipCtxPopCurrent(&context));
  OK(hipGetDevice(&here));
  EXPECT(here == 1);
}

// Each device runs its own code object, with variables of its own.
static void kernels() {
  for (int device = 0; device < 2; ++device) {
    use(device);
    const int value = 1 + device;
    OK(hipMemcpyToSymbol(HIP_SYMBOL(bias), &value, sizeof value));
  }
  for (int device = 0; device < 2; ++device) {
    use(device);
    int* out = nullptr;
    OK(hipMalloc(&out, 128 * sizeof(int)));
    describe<<<1, 128>>>(out);
    std::vector<int> got(128);
    OK(hipMemcpy(got.data(), out, 128 * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < 128; ++i) {
      EXPECT(got[i] == 10000 * (1 + device) + 100 * lanes[device] + i % lanes[device]);
    }
    hipPointerAttribute_t attributes;
    OK(hipPointerGetAttributes(&attributes, out));
    EXPECT(attributes.device == device);
    use(1 - device);
    OK(hipFree(out));  // whichever device is current
  }
}

// A stream belongs to the device that it was made on: kernels in it run there.
static void streams() {
  hipStream_t stream[2];
  hipEvent_t done[2];
  int* data[2];
  std::vector<int> ones(300, 1), got(300);
  for (int device = 0; device < 2; ++device) {
    use(device);
    OK(hipStreamCreate(&stream[device]));
    OK(hipEventCreate(&done[device]));
    OK(hipMalloc(&data[device], 300 * sizeof(int)));
    OK(hipMemcpy(data[device], ones.data(), 300 * sizeof(int), hipMemcpyHostToDevice));
    hipDevice_t owner = -1;
    OK(hipStreamGetDevice(stream[device], &owner));
    EXPECT(owner == device);
  }
  use(0);
  EXPECT_HIP(hipErrorInvalidHandle, hipEventRecord(done[0], stream[1]));
  for (int round = 0; round < 10; ++round) {  // 1 + 1, then the devices take turns
    const int from = round % 2, to = 1 - from;
    add<<<2, 256, 0, stream[from]>>>(data[from], data[from], 300);
    OK(hipMemcpyPeerAsync(data[to], to, data[from], from, 300 * sizeof(int), stream[from]));
    use(from);
    OK(hipEventRecord(done[from], stream[from]));
    OK(hipStreamWaitEvent(stream[to], done[from], 0));
  }
  OK(hipStreamSynchronize(stream[0]));
  OK(hipMemcpy(got.data(), data[0], 300 * sizeof(int), hipMemcpyDeviceToHost));
  for (int value : got) EXPECT(value == 1 << 10);
  float milliseconds = 0;
  EXPECT_HIP(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, done[0], done[1]));
  for (int device = 0; device < 2; ++device) {
    OK(hipStreamDestroy(stream[device]));
    OK(hipFree(data[device]));
  }
}

static void peers() {
  int able = -1;
  OK(hipDeviceCanAccessPeer(&able, 0, 1));
  EXPECT(able == 1);
  OK(hipDeviceCanAccessPeer(&able, 1, 1));
  EXPECT(able == 0);
  EXPECT_HIP(hipErrorInvalidDevice, hipDeviceCanAccessPeer(&able, 0, 2));
  use(0);
  int* own = nullptr;
  int* other = nullptr;
  const int numbers[] = {3, 4, 5};
  OK(hipMalloc(&own, sizeof numbers));
  OK(hipMemcpy(own, numbers, sizeof numbers, hipMemcpyHostToDevice));
  use(1);
  OK(hipMalloc(&other, sizeof numbers));
  OK(hipMemcpyPeer(other, 1, own, 0, sizeof numbers));
  EXPECT_HIP(hipErrorInvalidDevice, hipMemcpyPeer(other, 2, own, 0, sizeof numbers));
  EXPECT_HIP(hipErrorPeerAccessNotEnabled, hipDeviceDisablePeerAccess(0));
  OK(hipDeviceEnablePeerAccess(0, 0));
  EXPECT_HIP(hipErrorPeerAccessAlreadyEnabled, hipDeviceEnablePeerAccess(0, 0));
  EXPECT_HIP(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(1, 0));
  add<<<1, 64>>>(other, own, 3);
  int got[3];
  OK(hipMemcpy(got, other, sizeof got, hipMemcpyDeviceToHost));
  EXPECT(got[0] == 6 && got[1] == 8 && got[2] == 10);
  OK(hipDeviceDisablePeerAccess(0));
  OK(hipFree(own));
  OK(hipFree(other));
}

static void managed() {
  for (int device = 0; device < 2; ++device) {
    use(device);
    count_up<<<1, 1>>>();
    OK(hipDeviceSynchronize());
  }
  EXPECT(shared_by_all == 21);
}

static void pools() {
  for (int device = 0; device < 2; ++device) {
    use(device);
    void* memory = nullptr;
    OK(hipMallocAsync(&memory, 64, nullptr));
    hipPointerAttribute_t attributes;
    OK(hipPointerGetAttributes(&attributes, memory));
    EXPECT(attributes.device == device);
    OK(hipFreeAsync(memory, nullptr));
    OK(hipDeviceSynchronize());
  }
}

// hipDeviceReset concerns the current device alone.
static void reset() {
  use(0);
  int* kept = nullptr;
  OK(hipMalloc(&kept, 64));
  use(1);
  int* gone = nullptr;
  OK(hipMalloc(&gone, 64));
  OK(hipDeviceReset());
  EXPECT_HIP(hipErrorInvalidValue, hipFree(gone));
  OK(hipFree(kept));
}

// Without access to a peer its memory is a fault.
static int foreign() {
  use(0);
  int* own = nullptr;
  OK(hipMalloc(&own, 64));
  use(1);
  describe<<<1, 16>>>(own);
  EXPECT_HIP(hipErrorIllegalAddress, hipDeviceSynchronize());
  use(0);
  describe<<<1, 16>>>(own);
  OK(hipDeviceSynchronize());
  return report();
}

int main(int count, char**) {
  if (count > 1) return foreign();
  properties();
  threads();
  kernels();
  streams();
  peers();
  managed();
  pools();
  reset();
  return report();
}
