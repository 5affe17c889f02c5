// What libc10_cuda has for extensions: devices, streams and errors, on HIP's runtime.
#include <c10/core/Stream.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/cuda/PeerToPeerAccess.h>
#include <hip/hip_runtime_api.h>

#include <map>
#include <mutex>
#include <ostream>
#include <string>

namespace c10::cuda {

namespace {

// A stream's id is its handle; the default stream is 0.
thread_local std::map<DeviceIndex, StreamId> current_streams;

DeviceIndex device_or_current(DeviceIndex device) { return device < 0 ? current_device() : device; }

CUDAStream stream_of(StreamId id, DeviceIndex device) {
  return CUDAStream(CUDAStream::UNCHECKED,
                    Stream(Stream::UNSAFE, Device(DeviceType::CUDA, device), id));
}

}  // namespace

void c10_cuda_check_implementation(const int32_t error, const char* file, const char* function,
                                   const uint32_t line, const bool) {
  const auto code = static_cast<hipError_t>(error);
  if (code == hipSuccess) return;
  (void)hipGetLastError();
  throw c10::AcceleratorError({function, file, line}, error,
                              std::string("HIP error: ") + hipGetErrorString(code));
}

std::mutex* getFreeMutex() {
  static std::mutex mutex;
  return &mutex;
}

const char* get_cuda_check_suffix() noexcept { return ""; }

hipError_t GetDeviceCount(int* count) { return hipGetDeviceCount(count); }

hipError_t GetDevice(DeviceIndex* device) {
  int index = 0;
  const hipError_t error = hipGetDevice(&index);
  *device = static_cast<DeviceIndex>(index);
  return error;
}

hipError_t SetDevice(DeviceIndex device, const bool) { return hipSetDevice(device); }

hipError_t MaybeSetDevice(DeviceIndex device) { return hipSetDevice(device); }

DeviceIndex ExchangeDevice(DeviceIndex device) {
  const DeviceIndex before = current_device();
  if (device >= 0 && device != before) set_device(device);
  return before;
}

DeviceIndex MaybeExchangeDevice(DeviceIndex device) { return ExchangeDevice(device); }

void SetTargetDevice() {}

DeviceIndex device_count() noexcept {
  int count = 0;
  return hipGetDeviceCount(&count) == hipSuccess ? static_cast<DeviceIndex>(count) : 0;
}

DeviceIndex device_count_ensure_non_zero() {
  const DeviceIndex count = device_count();
  TORCH_CHECK(count > 0, "no HIP device is presented to this process (CASS_DEVICES)");
  return count;
}

DeviceIndex current_device() {
  DeviceIndex device = 0;
  C10_CUDA_CHECK(GetDevice(&device));
  return device;
}

void set_device(DeviceIndex device, const bool force) { C10_CUDA_CHECK(SetDevice(device, force)); }

void device_synchronize() { C10_CUDA_CHECK(hipDeviceSynchronize()); }

void warn_or_error_on_sync() {}

bool hasPrimaryContext(DeviceIndex device) { return device >= 0 && device < device_count(); }

std::optional<DeviceIndex> getDeviceIndexWithPrimaryContext() { return current_device(); }

hipStream_t CUDAStream::stream() const { return reinterpret_cast<hipStream_t>(stream_.id()); }

bool CUDAStream::query() const {
  const hipError_t error = hipStreamQuery(stream());
  if (error == hipErrorNotReady) return false;
  C10_CUDA_CHECK(error);
  return true;
}

void CUDAStream::synchronize() const { C10_CUDA_CHECK(hipStreamSynchronize(stream())); }

bool get_p2p_access(DeviceIndex device, DeviceIndex peer) {
  int can = 0;
  C10_CUDA_CHECK(hipDeviceCanAccessPeer(&can, device, peer));
  return can != 0;
}

bool get_fabric_access(DeviceIndex) { return false; }
int get_fabric_clique_id(DeviceIndex) { return kCliqueIdUnsupported; }

namespace detail {
void init_p2p_access_cache(int64_t) {}
}  // namespace detail

CUDAStream getStreamFromPool(const int priority, DeviceIndex device) {
  device = device_or_current(device);
  const DeviceIndex before = ExchangeDevice(device);
  hipStream_t made = nullptr;
  C10_CUDA_CHECK(hipStreamCreateWithPriority(&made, hipStreamNonBlocking, priority));
  ExchangeDevice(before);
  return stream_of(reinterpret_cast<StreamId>(made), device);
}

CUDAStream getStreamFromPool(const bool high, DeviceIndex device) {
  return getStreamFromPool(high ? -1 : 0, device);
}

CUDAStream getStreamFromExternal(hipStream_t stream, DeviceIndex device) {
  return stream_of(reinterpret_cast<StreamId>(stream), device);
}

CUDAStream getDefaultCUDAStream(DeviceIndex device) {
  return stream_of(0, device_or_current(device));
}

CUDAStream getCurrentCUDAStream(DeviceIndex device) {
  device = device_or_current(device);
  const auto found = current_streams.find(device);
  return stream_of(found == current_streams.end() ? 0 : found->second, device);
}

void setCurrentCUDAStream(CUDAStream stream) {
  current_streams[stream.device_index()] = stream.id();
}

std::ostream& operator<<(std::ostream& out, const CUDAStream& stream) {
  return out << stream.unwrap();
}

}  // namespace c10::cuda
