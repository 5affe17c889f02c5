// Host work in the order of a stream or a graph.
#pragma once

#include <hip/hip_runtime_api.h>

#include <functional>
#include <memory>
#include <utility>

#include "operation.hpp"

namespace cass::hip {

class HostOperation final : public Operation {
 public:
  explicit HostOperation(std::function<void()> work) : work_(std::move(work)) {}
  HostOperation(hipHostFn_t function, void* data)
      : parameters{function, data}, work_([function, data] { function(data); }) {}

  hipError_t run() override {
    work_();
    return hipSuccess;
  }
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeHost; }
  std::shared_ptr<Operation> copy() const override {
    return std::make_shared<HostOperation>(*this);
  }

  const hipHostNodeParams parameters{};

 private:
  std::function<void()> work_;
};

}  // namespace cass::hip
