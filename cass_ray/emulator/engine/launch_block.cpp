#include "launch_block.hpp"

#include <mutex>
#include <vector>

#include "device_memory.hpp"

namespace cass::amdgpu {
namespace {

struct Free {
  std::mutex guard;
  std::vector<LaunchBlock*> blocks;
};

Free& unused() {
  static auto& all = *new Free;
  return all;
}

}  // namespace

LaunchBlock* LaunchBlock::take() {
  {
    const std::lock_guard lock(unused().guard);
    if (!unused().blocks.empty()) {
      LaunchBlock* block = unused().blocks.back();
      unused().blocks.pop_back();
      return block;
    }
  }
  return reinterpret_cast<LaunchBlock*>(DeviceMemory::instance().allocate(bytes));
}

void LaunchBlock::give_back() {
  const std::lock_guard lock(unused().guard);
  unused().blocks.push_back(this);
}

}  // namespace cass::amdgpu
