// Entry points of whole graphs: structure, instantiation, launch, user objects.
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>

#include "device.hpp"
#include "device_properties.hpp"
#include "errors.hpp"
#include "graph.hpp"
#include "graph_exec.hpp"
#include "memory.hpp"

using namespace cass::hip;

namespace {

// Graphs that the program has to destroy. Guarded by graph_lock().
auto& owned_graphs() {
  static auto& graphs = *new std::map<hipGraph_t, std::unique_ptr<ihipGraph>>;
  return graphs;
}

// Copies `nodes` out the way HIP does: only counts where `out` is null, at most `*count` else.
hipError_t give(const std::vector<hipGraphNode*>& nodes, hipGraphNode_t* out, std::size_t* count) {
  if (count == nullptr) return hipErrorInvalidValue;
  if (out == nullptr) {
    *count = nodes.size();
    return hipSuccess;
  }
  const auto given = std::min(*count, nodes.size());
  std::copy_n(nodes.begin(), given, out);
  std::fill(out + given, out + *count, nullptr);
  *count = given;
  return hipSuccess;
}

std::vector<hipGraphNode*> all_nodes(const ihipGraph& graph) {
  std::vector<hipGraphNode*> nodes;
  for (const auto& node : graph.nodes) nodes.push_back(node.get());
  return nodes;
}

hipError_t instantiate_into(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
  const std::lock_guard lock(graph_lock());
  if (exec == nullptr || !is_graph(graph)) return hipErrorInvalidValue;
  constexpr unsigned long long known =
      hipGraphInstantiateFlagAutoFreeOnLaunch | hipGraphInstantiateFlagUpload |
      hipGraphInstantiateFlagDeviceLaunch | hipGraphInstantiateFlagUseNodePriority;
  if ((flags & ~known) != 0) return hipErrorInvalidValue;
  auto made = instantiate(*graph, flags);
  if (made == nullptr) return hipErrorInvalidValue;
  *exec = keep_exec(std::move(made));
  return hipSuccess;
}

const char* type_name(hipGraphNodeType type) {
  switch (type) {
    case hipGraphNodeTypeKernel: return "KERNEL";
    case hipGraphNodeTypeMemcpy: return "MEMCPY";
    case hipGraphNodeTypeMemset: return "MEMSET";
    case hipGraphNodeTypeHost: return "HOST";
    case hipGraphNodeTypeGraph: return "GRAPH";
    case hipGraphNodeTypeEmpty: return "EMPTY";
    case hipGraphNodeTypeWaitEvent: return "EVENT_WAIT";
    case hipGraphNodeTypeEventRecord: return "EVENT_RECORD";
    case hipGraphNodeTypeMemAlloc: return "MEM_ALLOC";
    case hipGraphNodeTypeMemFree: return "MEM_FREE";
    default: return "NODE";
  }
}

}  // namespace

namespace cass::hip {

void own_graph(ihipGraph* graph) {
  const std::lock_guard lock(graph_lock());
  owned_graphs().emplace(graph, graph);
}

}  // namespace cass::hip

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return record(hipErrorInvalidValue);
  *graph = new ihipGraph;
  own_graph(*graph);
  return hipSuccess;
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  const std::lock_guard lock(graph_lock());
  return record(owned_graphs().erase(graph) == 1 ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from,
                                   const hipGraphNode_t* to, std::size_t count) {
  const std::lock_guard lock(graph_lock());
  if (!is_graph(graph)) return record(hipErrorInvalidValue);
  if (count == 0) return hipSuccess;
  if (from == nullptr || to == nullptr) return record(hipErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    if (!graph->contains(from[i]) || !graph->contains(to[i]) || from[i] == to[i]) {
      return record(hipErrorInvalidValue);
    }
    const auto& known = to[i]->dependencies;
    if (std::find(known.begin(), known.end(), from[i]) != known.end()) {
      return record(hipErrorInvalidValue);
    }
  }
  for (std::size_t i = 0; i < count; ++i) to[i]->dependencies.push_back(from[i]);
  return hipSuccess;
}

hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from,
                                      const hipGraphNode_t* to, std::size_t count) {
  const std::lock_guard lock(graph_lock());
  if (!is_graph(graph)) return record(hipErrorInvalidValue);
  if (count == 0) return hipSuccess;
  if (from == nullptr || to == nullptr) return record(hipErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    if (!graph->contains(to[i]) || std::erase(to[i]->dependencies, from[i]) == 0) {
      return record(hipErrorInvalidValue);
    }
  }
  return hipSuccess;
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to,
                            std::size_t* count) {
  const std::lock_guard lock(graph_lock());
  if (!is_graph(graph) || count == nullptr || (from == nullptr) != (to == nullptr)) {
    return record(hipErrorInvalidValue);
  }
  std::vector<hipGraphNode*> sources;
  std::vector<hipGraphNode*> targets;
  for (const auto& node : graph->nodes) {
    for (auto* dependency : node->dependencies) {
      sources.push_back(dependency);
      targets.push_back(node.get());
    }
  }
  auto same_count = *count;
  if (to != nullptr) static_cast<void>(give(targets, to, &same_count));
  return record(give(sources, from, count));
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count) {
  const std::lock_guard lock(graph_lock());
  if (!is_graph(graph)) return record(hipErrorInvalidValue);
  return record(give(all_nodes(*graph), nodes, count));
}

hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count) {
  const std::lock_guard lock(graph_lock());
  if (!is_graph(graph)) return record(hipErrorInvalidValue);
  auto roots = all_nodes(*graph);
  std::erase_if(roots, [](const auto* node) { return !node->dependencies.empty(); });
  return record(give(roots, nodes, count));
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* nodes,
                                       std::size_t* count) {
  const std::lock_guard lock(graph_lock());
  if (!is_node(node)) return record(hipErrorInvalidValue);
  return record(give(node->dependencies, nodes, count));
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* nodes,
                                         std::size_t* count) {
  const std::lock_guard lock(graph_lock());
  if (!is_node(node)) return record(hipErrorInvalidValue);
  auto dependents = all_nodes(*node->graph);
  std::erase_if(dependents, [&](const auto* other) {
    const auto& known = other->dependencies;
    return std::find(known.begin(), known.end(), node) == known.end();
  });
  return record(give(dependents, nodes, count));
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  const std::lock_guard lock(graph_lock());
  if (!is_node(node) || type == nullptr) return record(hipErrorInvalidValue);
  *type = node->operation->node_type();
  return hipSuccess;
}

hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  const std::lock_guard lock(graph_lock());
  if (!is_node(node)) return record(hipErrorInvalidValue);
  node->graph->remove(node);
  return hipSuccess;
}

hipError_t hipGraphClone(hipGraph_t* clone, hipGraph_t graph) {
  const std::lock_guard lock(graph_lock());
  if (clone == nullptr || !is_graph(graph)) return record(hipErrorInvalidValue);
  *clone = graph->clone().release();
  own_graph(*clone);
  return hipSuccess;
}

hipError_t hipGraphNodeFindInClone(hipGraphNode_t* found, hipGraphNode_t original,
                                   hipGraph_t clone) {
  const std::lock_guard lock(graph_lock());
  if (found == nullptr || !is_node(original) || !is_graph(clone)) {
    return record(hipErrorInvalidValue);
  }
  for (const auto& node : clone->nodes) {
    if (node->original == original) {
      *found = node.get();
      return hipSuccess;
    }
  }
  return record(hipErrorInvalidValue);
}

hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node,
                               char* log, std::size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes > 0) *log = '\0';
  return record(instantiate_into(exec, graph, 0));
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph,
                                        unsigned long long flags) {
  return record(instantiate_into(exec, graph, flags));
}

hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* exec, hipGraph_t graph,
                                         hipGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return record(hipErrorInvalidValue);
  const auto error = instantiate_into(exec, graph, parameters->flags);
  parameters->errNode_out = nullptr;
  parameters->result_out =
      error == hipSuccess ? hipGraphInstantiateSuccess : hipGraphInstantiateError;
  return record(error);
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  const std::lock_guard lock(graph_lock());
  return record(drop_exec(exec) ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error_node,
                              hipGraphExecUpdateResult* result) {
  const std::lock_guard lock(graph_lock());
  if (!is_exec(exec) || !is_graph(graph) || error_node == nullptr || result == nullptr) {
    return record(hipErrorInvalidValue);
  }
  return record(update(*exec, *graph, error_node, result));
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t handle) {
  CASS_STREAM(stream, handle);
  std::shared_ptr<Operation> launch;
  {
    const std::lock_guard lock(graph_lock());
    if (!is_exec(exec)) return record(hipErrorInvalidValue);
    launch = launch_of(*exec);
  }
  return record(Device::submit(stream, std::move(launch)));
}

extern "C" HIP_PUBLIC_API hipError_t hipGraphLaunch_spt(hipGraphExec_t exec, hipStream_t stream) {
  return hipGraphLaunch(exec, stream == nullptr ? hipStreamPerThread : stream);
}

hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t handle) {
  CASS_STREAM(stream, handle);
  const std::lock_guard lock(graph_lock());
  return record(is_exec(exec) ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
  const std::lock_guard lock(graph_lock());
  auto* step = is_exec(exec) && is_node(node) ? exec->step_of(node) : nullptr;
  if (step == nullptr) return record(hipErrorInvalidValue);
  const auto type = step->operation->node_type();
  if (type != hipGraphNodeTypeKernel && type != hipGraphNodeTypeMemcpy &&
      type != hipGraphNodeTypeMemset) {
    return record(hipErrorInvalidValue);
  }
  step->enabled = enabled != 0;
  return hipSuccess;
}

hipError_t hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned* enabled) {
  const std::lock_guard lock(graph_lock());
  auto* step = is_exec(exec) && is_node(node) ? exec->step_of(node) : nullptr;
  if (step == nullptr || enabled == nullptr) return record(hipErrorInvalidValue);
  *enabled = step->enabled ? 1 : 0;
  return hipSuccess;
}

hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned) {
  const std::lock_guard lock(graph_lock());
  if (!is_graph(graph) || path == nullptr) return record(hipErrorInvalidValue);
  std::ofstream file(path);
  if (!file) return record(hipErrorOperatingSystem);
  file << "digraph dot {\n";
  for (const auto& node : graph->nodes) {
    file << "  \"node_" << node->id << "\" [label=\"" << type_name(node->operation->node_type())
         << "\"];\n";
    for (const auto* dependency : node->dependencies) {
      file << "  \"node_" << dependency->id << "\" -> \"node_" << node->id << "\";\n";
    }
  }
  file << "}\n";
  return record(file ? hipSuccess : hipErrorOperatingSystem);
}

hipError_t hipUserObjectCreate(hipUserObject_t* object, void* pointer, hipHostFn_t destroy,
                               unsigned references, unsigned flags) {
  if (object == nullptr || destroy == nullptr || references == 0 ||
      flags != hipUserObjectNoDestructorSync) {
    return record(hipErrorInvalidValue);
  }
  const std::lock_guard lock(graph_lock());
  *object = new hipUserObject{pointer, destroy, references};
  keep_user_object(*object);
  return hipSuccess;
}

hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned count) {
  const std::lock_guard lock(graph_lock());
  if (!is_user_object(object) || count == 0) return record(hipErrorInvalidValue);
  object->references += count;
  return hipSuccess;
}

hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned count) {
  const std::lock_guard lock(graph_lock());
  if (!is_user_object(object) || count == 0 || count > object->references) {
    return record(hipErrorInvalidValue);
  }
  release_user_object(object, count);
  return hipSuccess;
}

hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count,
                                    unsigned flags) {
  const std::lock_guard lock(graph_lock());
  if (!is_graph(graph) || !is_user_object(object) || count == 0 ||
      (flags != 0 && flags != hipGraphUserObjectMove)) {
    return record(hipErrorInvalidValue);
  }
  if (flags != hipGraphUserObjectMove) object->references += count;
  graph->user_objects[object] += count;
  return hipSuccess;
}

hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count) {
  const std::lock_guard lock(graph_lock());
  if (!is_graph(graph) || count == 0) return record(hipErrorInvalidValue);
  const auto held = graph->user_objects.find(object);
  if (held == graph->user_objects.end() || held->second < count) {
    return record(hipErrorInvalidValue);
  }
  held->second -= count;
  if (held->second == 0) graph->user_objects.erase(held);
  return hipUserObjectRelease(object, count);
}

// Graph memory is not pooled: nothing is reserved beyond what is in use.
hipError_t hipDeviceGraphMemTrim(int device) { return record(check_device(device)); }

hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType, void* value) {
  if (value == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  *static_cast<std::uint64_t*>(value) = 0;
  return hipSuccess;
}

hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attribute,
                                         void* value) {
  if (value == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  const bool high_mark =
      attribute == hipGraphMemAttrUsedMemHigh || attribute == hipGraphMemAttrReservedMemHigh;
  return record(high_mark && *static_cast<std::uint64_t*>(value) == 0 ? hipSuccess
                                                                      : hipErrorInvalidValue);
}
