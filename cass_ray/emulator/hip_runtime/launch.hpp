// Kernel launches: validation, packing of arguments, execution.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "module.hpp"
#include "operation.hpp"

namespace cass::hip {

// A launch as the program asks for it.
struct LaunchRequest {
  hipFunction_t function = nullptr;
  std::array<std::uint32_t, 3> grid_blocks{1, 1, 1};
  std::array<std::uint32_t, 3> block_threads{1, 1, 1};
  std::array<std::uint32_t, 3> remainder_threads{0, 0, 0};  // of the last, partial blocks
  std::size_t shared_bytes = 0;
  void** arguments = nullptr;  // one pointer for each explicit argument
  void** extra = nullptr;      // or HIP_LAUNCH_PARAM_BUFFER_POINTER and so on
  bool cooperative = false;
};

class KernelOperation final : public Operation {
 public:
  // Checks the request as AMD's runtime 6.2 does, with its error codes, and copies the arguments.
  static hipError_t make(const LaunchRequest& request, std::shared_ptr<KernelOperation>* made);

  hipError_t run() override;
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeKernel; }
  std::shared_ptr<Operation> copy() const override {
    return std::make_shared<KernelOperation>(*this);
  }

  // For hipGraphKernelNodeGetParams; pointers into this operation.
  hipKernelNodeParams parameters();

  hipFunction_t function() const { return request_.function; }

  // What the program named the kernel by: a host function, else the function handle.
  void* named_by = nullptr;

  // Attributes of a graph's kernel node; kept, without effect on a CPU.
  hipLaunchAttributeValue attributes[9] = {};

 private:
  hipError_t copy_arguments();
  hipError_t check_peers() const;

  LaunchRequest request_;
  std::shared_ptr<RemoteCode> code_object_;
  std::vector<std::byte> kernarg_;
  std::vector<void*> argument_pointers_;
};

// The number of workgroups of `block_threads` that one compute unit (WGP) holds.
std::uint32_t resident_blocks(const amdgpu::Kernel& kernel, std::uint32_t block_threads,
                              std::size_t dynamic_shared_bytes);

}  // namespace cass::hip
