#include "allocator.hpp"

#include "refused.hpp"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <hip/hip_runtime_api.h>

namespace cass {

namespace {

using namespace c10::cuda::CUDACachingAllocator;
using c10::DeviceIndex;
using c10::MempoolId_t;

void release(void* memory) { (void)hipFree(memory); }

class HipAllocator final : public CUDAAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* memory = bytes == 0 ? nullptr : raw_alloc(bytes);
    const c10::Device device(c10::DeviceType::CUDA, c10::cuda::current_device());
    return {memory, memory, &release, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* target, const void* source, size_t bytes) const override {
    C10_CUDA_CHECK(hipMemcpy(target, source, bytes, hipMemcpyDefault));
  }
  void* raw_alloc(size_t bytes) override {
    void* memory = nullptr;
    const hipError_t error = hipMalloc(&memory, bytes);
    TORCH_CHECK_WITH(OutOfMemoryError, error != hipErrorOutOfMemory, "HIP out of memory: ", bytes,
                     " bytes");
    C10_CUDA_CHECK(error);
    return memory;
  }
  void* raw_alloc_with_stream(size_t bytes, hipStream_t) override { return raw_alloc(bytes); }
  void raw_delete(void* memory) override { release(memory); }
  std::string name() override { return "HIP on the CPU backend"; }

  // hipFree waits for what still uses the memory, and nothing is kept.
  void recordStream(const c10::DataPtr&, c10::cuda::CUDAStream) override {}
  void init(int) override {}
  bool initialized() override { return true; }
  void emptyCache(MempoolId_t) override {}
  void enable(bool) override {}
  bool isEnabled() const override { return true; }
  void cacheInfo(DeviceIndex, size_t* largest) override { *largest = 0; }
  double getMemoryFraction(DeviceIndex) override { return 1.0; }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(DeviceIndex) override { return {}; }
  void resetAccumulatedStats(DeviceIndex) override {}
  void resetPeakStats(DeviceIndex) override {}
  std::vector<StreamSegmentSize> getExpandableSegmentSizes(DeviceIndex) override { return {}; }
  void attachOutOfMemoryObserver(OutOfMemoryObserver) override {}
  void attachOomRejectionObserver(OomRejectionObserver) override {}
  void attachAllocatorTraceTracker(AllocatorTraceTracker) override {}
  void enablePeerAccess(DeviceIndex, DeviceIndex) override {}
  hipError_t memcpyAsync(void* target, int, const void* source, int, size_t bytes,
                         hipStream_t stream, bool) override {
    return hipMemcpyAsync(target, source, bytes, hipMemcpyDefault, stream);
  }

  void setMemoryFraction(double, DeviceIndex) override { refuse("a share of memory"); }
  void* getBaseAllocation(void*, size_t*) override { refuse("sharing between processes"); }
  ShareableHandle shareIpcHandle(void*) override { refuse("sharing between processes"); }
  std::shared_ptr<void> getIpcDevPtr(std::string) override { refuse("sharing between processes"); }
  SnapshotInfo snapshot(MempoolId_t, bool) override { refuse("a snapshot of memory"); }
  void recordHistory(bool, CreateContextFn, size_t, RecordContext, bool,
                     const std::vector<std::string>&) override {
    refuse("a history of memory");
  }
  void beginAllocateToPool(DeviceIndex, MempoolId_t, std::function<bool(hipStream_t)>) override {
    refuse("a memory pool");
  }
  void endAllocateToPool(DeviceIndex, MempoolId_t) override { refuse("a memory pool"); }
  void releasePool(DeviceIndex, MempoolId_t) override { refuse("a memory pool"); }
  std::shared_ptr<AllocatorState> getCheckpointState(DeviceIndex, MempoolId_t) override {
    refuse("a memory pool");
  }
  CheckpointDelta setCheckpointPoolState(DeviceIndex, std::shared_ptr<AllocatorState>) override {
    refuse("a memory pool");
  }
};

}  // namespace

CUDAAllocator& device_allocator() {
  static HipAllocator allocator;
  return allocator;
}

}  // namespace cass

namespace c10::cuda::CUDACachingAllocator {

std::atomic<CUDAAllocator*> allocator{&cass::device_allocator()};

}  // namespace c10::cuda::CUDACachingAllocator
