// An instantiated graph: a frozen order of operations.
#pragma once

#include <hip/hip_runtime_api.h>

#include <memory>
#include <mutex>
#include <vector>

#include "graph.hpp"
#include "operation.hpp"

struct hipGraphExec {
  struct Step {
    const hipGraphNode* node;  // of the graph it was made from
    std::shared_ptr<cass::hip::Operation> operation;
    bool enabled = true;
  };

  std::vector<Step> steps;
  // The structure, to compare with at updates: positions of the dependencies of each step.
  std::vector<std::vector<std::size_t>> dependencies;
  unsigned long long flags = 0;

  Step* step_of(const hipGraphNode* node);
};

namespace cass::hip {

// Null, where the graph's dependencies form a cycle.
std::unique_ptr<hipGraphExec> instantiate(const ihipGraph& graph, unsigned long long flags);

// Takes parameters over from a graph of the same structure.
hipError_t update(hipGraphExec& exec, const ihipGraph& graph, hipGraphNode** error_node,
                  hipGraphExecUpdateResult* result);

hipGraphExec_t keep_exec(std::unique_ptr<hipGraphExec> exec);
bool is_exec(hipGraphExec_t exec);
bool drop_exec(hipGraphExec_t exec);

// One launch of an instantiated graph: the operations as they were at the launch.
class GraphLaunchOperation final : public Operation {
 public:
  explicit GraphLaunchOperation(std::vector<std::shared_ptr<Operation>> operations)
      : operations_(std::move(operations)) {}
  hipError_t run() override;

  // Whether the calling thread runs a graph's nodes.
  static bool is_running();
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeGraph; }
  std::shared_ptr<Operation> copy() const override {
    return std::make_shared<GraphLaunchOperation>(*this);
  }
  std::shared_ptr<Operation> launched() const override;

 private:
  std::vector<std::shared_ptr<Operation>> operations_;
};

std::shared_ptr<Operation> launch_of(const hipGraphExec& exec);

}  // namespace cass::hip
