#include "graph.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "graph_exec.hpp"

namespace cass::hip {
namespace {

auto& graphs() {
  static auto& all = *new std::set<const ihipGraph*>;
  return all;
}

auto& all_nodes() {
  static auto& all = *new std::set<const hipGraphNode*>;
  return all;
}

auto& user_objects() {
  static auto& all = *new std::set<const hipUserObject*>;
  return all;
}

std::uint64_t next_id() {
  static std::uint64_t id = 0;
  return ++id;
}

}  // namespace

std::recursive_mutex& graph_lock() {
  static auto& lock = *new std::recursive_mutex;
  return lock;
}

bool is_graph(const ihipGraph* graph) { return graphs().contains(graph); }

bool is_node(const hipGraphNode* node) { return all_nodes().contains(node); }

void keep_user_object(hipUserObject* object) { user_objects().insert(object); }

bool is_user_object(const hipUserObject* object) { return user_objects().contains(object); }

void release_user_object(hipUserObject* object, unsigned count) {
  object->references -= std::min(count, object->references);
  if (object->references > 0) return;
  user_objects().erase(object);
  if (object->destroy != nullptr) object->destroy(object->pointer);
  delete object;
}

hipError_t ChildGraphOperation::run() {
  for (auto* node : graph->in_order()) {
    if (const auto error = node->operation->run(); error != hipSuccess) return error;
  }
  return hipSuccess;
}

std::shared_ptr<Operation> ChildGraphOperation::copy() const {
  return std::make_shared<ChildGraphOperation>(graph->clone());
}

std::shared_ptr<Operation> ChildGraphOperation::launched() const {
  std::vector<std::shared_ptr<Operation>> own;
  for (auto* node : graph->in_order()) own.push_back(of_launch(node->operation));
  return std::make_shared<GraphLaunchOperation>(std::move(own));
}

}  // namespace cass::hip

using namespace cass::hip;

ihipGraph::ihipGraph() {
  const std::lock_guard lock(graph_lock());
  graphs().insert(this);
}

ihipGraph::~ihipGraph() {
  const std::lock_guard lock(graph_lock());
  graphs().erase(this);
  for (const auto& node : nodes) all_nodes().erase(node.get());
  for (const auto& [object, count] : user_objects) release_user_object(object, count);
}

hipGraphNode* ihipGraph::add(std::shared_ptr<Operation> operation,
                             std::vector<hipGraphNode*> dependencies) {
  auto node = std::make_unique<hipGraphNode>();
  node->operation = std::move(operation);
  node->dependencies = std::move(dependencies);
  node->graph = this;
  node->id = next_id();
  all_nodes().insert(node.get());
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

void ihipGraph::remove(hipGraphNode* node) {
  for (const auto& other : nodes) std::erase(other->dependencies, node);
  all_nodes().erase(node);
  std::erase_if(nodes, [&](const auto& owned) { return owned.get() == node; });
}

bool ihipGraph::contains(const hipGraphNode* node) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const auto& owned) { return owned.get() == node; });
}

std::unique_ptr<ihipGraph> ihipGraph::clone() const {
  auto graph = std::make_unique<ihipGraph>();
  std::unordered_map<const hipGraphNode*, hipGraphNode*> clones;
  for (const auto& node : nodes) {
    auto* made = graph->add(node->operation->copy(), {});
    made->original = node.get();
    clones.emplace(node.get(), made);
  }
  for (const auto& node : nodes) {
    auto& dependencies = clones.at(node.get())->dependencies;
    for (const auto* dependency : node->dependencies) dependencies.push_back(clones.at(dependency));
  }
  return graph;
}

std::vector<hipGraphNode*> ihipGraph::in_order() const {
  std::unordered_map<const hipGraphNode*, std::size_t> missing;
  std::unordered_map<const hipGraphNode*, std::vector<hipGraphNode*>> dependents;
  std::vector<hipGraphNode*> order;
  order.reserve(nodes.size());
  for (const auto& node : nodes) {
    missing[node.get()] = node->dependencies.size();
    for (const auto* dependency : node->dependencies) dependents[dependency].push_back(node.get());
    if (node->dependencies.empty()) order.push_back(node.get());
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (auto* dependent : dependents[order[next]]) {
      if (--missing[dependent] == 0) order.push_back(dependent);
    }
  }
  if (order.size() != nodes.size()) order.clear();
  return order;
}
