// Operations from the parameter structures of graph nodes, and back.
#pragma once

#include <hip/hip_runtime_api.h>

#include <memory>

#include "copy.hpp"
#include "graph.hpp"
#include "launch.hpp"
#include "operation.hpp"

namespace cass::hip {

hipError_t kernel_operation(const hipKernelNodeParams* parameters,
                            std::shared_ptr<Operation>* made);
hipError_t fill_operation(const hipMemsetParams* parameters, std::shared_ptr<Operation>* made);
hipError_t copy_operation(const hipMemcpy3DParms* parameters, std::shared_ptr<Operation>* made);
hipError_t copy_operation(void* destination, const void* source, std::size_t bytes,
                          hipMemcpyKind kind, std::shared_ptr<Operation>* made);
hipError_t copy_to_symbol_operation(const void* symbol, const void* source, std::size_t bytes,
                                    std::size_t offset, hipMemcpyKind kind,
                                    std::shared_ptr<Operation>* made);
hipError_t copy_from_symbol_operation(void* destination, const void* symbol, std::size_t bytes,
                                      std::size_t offset, hipMemcpyKind kind,
                                      std::shared_ptr<Operation>* made);
hipError_t host_operation(const hipHostNodeParams* parameters, std::shared_ptr<Operation>* made);
hipError_t child_operation(hipGraph_t child, std::shared_ptr<Operation>* made);

hipMemcpy3DParms parameters_of(const CopyOperation& operation);
hipMemsetParams parameters_of(const FillOperation& operation);

// Memory of a graph. It is allocated with the node and freed with the graph, or by hipFree.
class AllocateOperation final : public Operation {
 public:
  static hipError_t make(hipMemAllocNodeParams* parameters, std::shared_ptr<Operation>* made);
  hipError_t run() override { return hipSuccess; }
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeMemAlloc; }
  std::shared_ptr<Operation> copy() const override {
    return std::make_shared<AllocateOperation>(*this);
  }

  hipMemAllocNodeParams parameters{};

 private:
  std::shared_ptr<void> memory_;
};

class FreeOperation final : public Operation {
 public:
  explicit FreeOperation(void* address) : address(address) {}
  hipError_t run() override { return hipSuccess; }
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeMemFree; }
  std::shared_ptr<Operation> copy() const override {
    return std::make_shared<FreeOperation>(address);
  }

  void* const address;
};

}  // namespace cass::hip
