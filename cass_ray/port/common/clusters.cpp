#include "clusters.hpp"

#include <cstring>
#include <sstream>

#include "codes.hpp"
#include "report.hpp"

namespace cass::cuda {
namespace {

constexpr std::uint64_t most_threads = 1024;  // of a workgroup
constexpr std::size_t alignment = 16;         // of a block's LDS, as of a kernel's
constexpr unsigned most_blocks = 8;  // that every GPU has to have (CUDA programming guide)

int attribute(hipDeviceAttribute_t which) {
  int device = 0, value = 0;
  static_cast<void>(hipGetDevice(&device));
  static_cast<void>(hipDeviceGetAttribute(&value, which, device));
  return value;
}

std::size_t block_bytes(const ClusterKernel& kernel, std::size_t added) {
  return (kernel.shared_bytes + added + alignment - 1) / alignment * alignment;
}

// The threads of a block with those that its last wave has beyond them.
std::uint64_t padded(std::uint64_t threads) {
  const auto wave = static_cast<std::uint64_t>(attribute(hipDeviceAttributeWarpSize));
  return (threads + wave - 1) / wave * wave;
}

// What is too large for a workgroup; empty if nothing is.
std::string excess(const ClusterKernel& kernel, const BlockLaunch& given) {
  const auto blocks = given.cluster.count(), threads = given.block.count();
  const auto most_bytes =
      static_cast<std::uint64_t>(attribute(hipDeviceAttributeMaxSharedMemoryPerBlock));
  std::ostringstream text;
  text << "a cluster of " << blocks << " blocks of " << threads << " threads and "
       << block_bytes(kernel, given.shared_bytes)
       << " bytes of shared memory, which AMD's hardware would run as one workgroup: ";
  if (blocks * padded(threads) > most_threads) {
    text << "it has more than " << most_threads << " threads";
    if (threads != padded(threads)) text << ", as waves of " << padded(1) << " have one block";
  } else if (blocks * block_bytes(kernel, given.shared_bytes) > most_bytes) {
    text << "it has more than " << most_bytes << " bytes";
  } else {
    return {};
  }
  return text.str();
}

}  // namespace

std::map<std::string, ClusterKernel> read_cluster_kernels(std::string_view text) {
  std::map<std::string, ClusterKernel> found;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name, symbol;
    ClusterKernel made{};
    fields >> name >> symbol >> made.parameters >> made.words_offset >> made.shared_bytes;
    for (auto& blocks : made.shape) fields >> blocks;
    if (symbol != "-") made.symbol = symbol;
    fields >> std::ws;
    std::getline(fields, made.failure);
    found[name] = made;
  }
  return found;
}

int in_workgroups(const ClusterKernel& kernel, const BlockLaunch& given, ClusterLaunch& made) {
  const auto& [grid, block, cluster, added] = given;
  if (kernel.symbol.empty()) {
    report_once("a kernel was not lifted for launches with clusters: " + kernel.failure);
    return not_supported;
  }
  const auto [x, y, z] = kernel.shape;
  if (kernel.is_fixed() && (cluster.x != x || cluster.y != y || cluster.z != z)) {
    return invalid_cluster_size;
  }
  if (grid.count() == 0 || block.count() == 0 || block.count() > most_threads) {
    return invalid_configuration;
  }
  if (cluster.count() == 0 || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 ||
      grid.z % cluster.z != 0) {
    return invalid_cluster_size;
  }
  if (const auto text = excess(kernel, given); !text.empty()) {
    report_once(text);
    return not_supported;
  }
  const auto bytes = block_bytes(kernel, added);
  made.grid = {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
  made.workgroup = {static_cast<unsigned>(padded(block.count()) * cluster.count()), 1, 1};
  made.shared_bytes = bytes * cluster.count() - kernel.shared_bytes;
  made.words = {block.x,   block.y,   block.z,  static_cast<std::uint32_t>(bytes),
                cluster.x, cluster.y, cluster.z};
  return success;
}

void** ClusterLaunch::with_words(const ClusterKernel& kernel, void** given) {
  arguments_.assign(given, given + kernel.parameters);
  arguments_.push_back(words.data());
  return arguments_.data();
}

std::vector<char> ClusterLaunch::with_words(const ClusterKernel& kernel, const void* buffer,
                                            std::size_t bytes) {
  std::vector<char> made(kernel.words_offset + sizeof words);
  std::memcpy(made.data(), buffer, bytes < kernel.words_offset ? bytes : kernel.words_offset);
  std::memcpy(made.data() + kernel.words_offset, words.data(), sizeof words);
  return made;
}

bool fits(const ClusterKernel& kernel, const BlockLaunch& given) {
  return excess(kernel, given).empty();
}

unsigned largest_cluster(const ClusterKernel& kernel, const Shape& block,
                         std::size_t shared_bytes) {
  unsigned blocks = most_blocks;
  while (blocks > 0 && !fits(kernel, {{}, block, {blocks}, shared_bytes})) blocks /= 2;
  return blocks;
}

unsigned multiprocessors() {
  return static_cast<unsigned>(attribute(hipDeviceAttributeMultiprocessorCount));
}

}  // namespace cass::cuda
