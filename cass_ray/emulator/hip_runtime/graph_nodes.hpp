// What the entry points of all kinds of graph nodes share.
#pragma once

#include <hip/hip_runtime_api.h>

#include <memory>
#include <mutex>

#include "errors.hpp"
#include "graph.hpp"
#include "graph_exec.hpp"

namespace cass::hip {

// Adds a node with `operation` after `count` others.
hipError_t add_node(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                    std::size_t count, std::shared_ptr<Operation> operation);

// Replaces the operation of a node, or of its step in an instantiated graph, by one of its kind.
hipError_t set_operation(hipGraphNode_t node, std::shared_ptr<Operation> operation);
hipError_t set_operation(hipGraphExec_t exec, hipGraphNode_t node,
                         std::shared_ptr<Operation> operation);

// The operation of a node if it is of type `Kind`; null otherwise.
template <typename Kind>
std::shared_ptr<Kind> operation_of(hipGraphNode_t node) {
  const std::lock_guard lock(graph_lock());
  return is_node(node) ? std::dynamic_pointer_cast<Kind>(node->operation) : nullptr;
}

}  // namespace cass::hip
