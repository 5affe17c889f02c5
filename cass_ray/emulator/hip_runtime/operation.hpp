// Work that a stream or a graph node does.
#pragma once

#include <hip/hip_runtime_api.h>

#include <memory>

namespace cass::hip {

class Operation {
 public:
  virtual ~Operation() = default;

  // Does the work; a graph may run the same operation many times. Runs on a stream's thread.
  virtual hipError_t run() = 0;

  virtual hipGraphNodeType node_type() const = 0;

  // An independent copy, for clones of graphs.
  virtual std::shared_ptr<Operation> copy() const = 0;

  // What is put in a stream's queue in place of it, called when that is done; null: it itself.
  virtual std::shared_ptr<Operation> launched() const { return nullptr; }
};

inline std::shared_ptr<Operation> of_launch(std::shared_ptr<Operation> operation) {
  auto own = operation->launched();
  return own != nullptr ? own : operation;
}

// Marks a place in a stream: events, joins of graph branches.
class EmptyOperation final : public Operation {
 public:
  hipError_t run() override { return hipSuccess; }
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeEmpty; }
  std::shared_ptr<Operation> copy() const override { return std::make_shared<EmptyOperation>(); }
};

}  // namespace cass::hip
