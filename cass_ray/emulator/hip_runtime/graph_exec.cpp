#include "graph_exec.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "launch.hpp"

namespace cass::hip {
namespace {

auto& execs() {
  static auto& all = *new std::map<hipGraphExec_t, std::unique_ptr<hipGraphExec>>;
  return all;
}

// Positions in `order` of what each node depends on.
std::vector<std::vector<std::size_t>> positions(const std::vector<hipGraphNode*>& order) {
  std::unordered_map<const hipGraphNode*, std::size_t> index;
  for (std::size_t i = 0; i < order.size(); ++i) index.emplace(order[i], i);
  std::vector<std::vector<std::size_t>> result;
  result.reserve(order.size());
  for (const auto* node : order) {
    std::vector<std::size_t> dependencies;
    for (const auto* dependency : node->dependencies) dependencies.push_back(index.at(dependency));
    std::sort(dependencies.begin(), dependencies.end());
    result.push_back(std::move(dependencies));
  }
  return result;
}

thread_local unsigned running_graphs = 0;

struct Running {
  Running() { ++running_graphs; }
  ~Running() { --running_graphs; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

const amdgpu::Kernel* kernel_of(const Operation& operation) {
  const auto* kernel = dynamic_cast<const KernelOperation*>(&operation);
  return kernel == nullptr ? nullptr : kernel->function()->kernel;
}

}  // namespace

std::unique_ptr<hipGraphExec> instantiate(const ihipGraph& graph, unsigned long long flags) {
  const auto order = graph.in_order();
  if (order.empty() && !graph.nodes.empty()) return nullptr;
  auto exec = std::make_unique<hipGraphExec>();
  exec->flags = flags;
  exec->dependencies = positions(order);
  for (const auto* node : order) exec->steps.push_back({node, node->operation->copy()});
  return exec;
}

hipError_t update(hipGraphExec& exec, const ihipGraph& graph, hipGraphNode** error_node,
                  hipGraphExecUpdateResult* result) {
  const auto refuse = [&](hipGraphNode* node, hipGraphExecUpdateResult why) {
    *error_node = node;
    *result = why;
    return hipErrorGraphExecUpdateFailure;
  };
  const auto order = graph.in_order();
  if (order.size() != exec.steps.size() || positions(order) != exec.dependencies) {
    return refuse(order.empty() ? nullptr : order.back(), hipGraphExecUpdateErrorTopologyChanged);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& before = *exec.steps[i].operation;
    const auto& after = *order[i]->operation;
    if (before.node_type() != after.node_type()) {
      return refuse(order[i], hipGraphExecUpdateErrorNodeTypeChanged);
    }
    if (kernel_of(before) != kernel_of(after)) {
      return refuse(order[i], hipGraphExecUpdateErrorFunctionChanged);
    }
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    exec.steps[i].operation = order[i]->operation->copy();
    // Later calls may name the node by either graph's handle; the newer one counts.
    exec.steps[i].node = order[i];
  }
  *error_node = nullptr;
  *result = hipGraphExecUpdateSuccess;
  return hipSuccess;
}

hipGraphExec_t keep_exec(std::unique_ptr<hipGraphExec> exec) {
  auto* handle = exec.get();
  const std::lock_guard lock(graph_lock());
  execs().emplace(handle, std::move(exec));
  return handle;
}

bool is_exec(hipGraphExec_t exec) { return execs().contains(exec); }

bool drop_exec(hipGraphExec_t exec) { return execs().erase(exec) == 1; }

bool GraphLaunchOperation::is_running() { return running_graphs != 0; }

hipError_t GraphLaunchOperation::run() {
  const Running running;
  for (const auto& operation : operations_) {
    if (const auto error = operation->run(); error != hipSuccess) return error;
  }
  return hipSuccess;
}

std::shared_ptr<Operation> GraphLaunchOperation::launched() const {
  std::vector<std::shared_ptr<Operation>> own;
  own.reserve(operations_.size());
  for (const auto& operation : operations_) own.push_back(of_launch(operation));
  return std::make_shared<GraphLaunchOperation>(std::move(own));
}

std::shared_ptr<Operation> launch_of(const hipGraphExec& exec) {
  std::vector<std::shared_ptr<Operation>> operations;
  for (const auto& step : exec.steps) {
    if (step.enabled) operations.push_back(step.operation);
  }
  return std::make_shared<GraphLaunchOperation>(std::move(operations));
}

}  // namespace cass::hip

using namespace cass::hip;

hipGraphExec::Step* hipGraphExec::step_of(const hipGraphNode* node) {
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const auto& step) {
    return step.node == node || (node != nullptr && step.node == node->original);
  });
  return found == steps.end() ? nullptr : &*found;
}
