// Graphs of operations. The types are HIP's own opaque handles.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "operation.hpp"

struct hipGraphNode {
  std::shared_ptr<cass::hip::Operation> operation;
  std::vector<hipGraphNode*> dependencies;
  ihipGraph* graph = nullptr;
  const hipGraphNode* original = nullptr;  // in the graph that this one was cloned from
  std::uint64_t id = 0;
};

struct ihipGraph {
  ihipGraph();
  ~ihipGraph();
  ihipGraph(const ihipGraph&) = delete;
  ihipGraph& operator=(const ihipGraph&) = delete;

  std::vector<std::unique_ptr<hipGraphNode>> nodes;  // in order of creation
  std::map<hipUserObject*, unsigned> user_objects;   // references held

  hipGraphNode* add(std::shared_ptr<cass::hip::Operation> operation,
                    std::vector<hipGraphNode*> dependencies);
  void remove(hipGraphNode* node);
  bool contains(const hipGraphNode* node) const;
  std::unique_ptr<ihipGraph> clone() const;

  // Nodes so that each comes after its dependencies; empty where they form a cycle (and the
  // graph has nodes).
  std::vector<hipGraphNode*> in_order() const;
};

struct hipUserObject {
  void* pointer = nullptr;
  hipHostFn_t destroy = nullptr;
  unsigned references = 0;
};

namespace cass::hip {

// Guards all graphs: HIP leaves the locking of one graph to the program, but not that of several.
std::recursive_mutex& graph_lock();

// Handles of graphs and nodes that exist.
bool is_graph(const ihipGraph* graph);
bool is_node(const hipGraphNode* node);

// Keeps a graph until hipGraphDestroy.
void own_graph(ihipGraph* graph);

// Objects that exist. Guarded by graph_lock().
void keep_user_object(hipUserObject* object);
bool is_user_object(const hipUserObject* object);

// Drops `count` references; destroys the object with the last one.
void release_user_object(hipUserObject* object, unsigned count);

// A graph inside a graph.
class ChildGraphOperation final : public Operation {
 public:
  explicit ChildGraphOperation(std::unique_ptr<ihipGraph> graph) : graph(std::move(graph)) {}
  hipError_t run() override;
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeGraph; }
  std::shared_ptr<Operation> copy() const override;
  std::shared_ptr<Operation> launched() const override;

  std::unique_ptr<ihipGraph> graph;
};

}  // namespace cass::hip
