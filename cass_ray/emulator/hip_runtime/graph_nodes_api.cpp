// Entry points that make graph nodes and change their parameters.
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <iterator>

#include "copy_shapes.hpp"
#include "errors.hpp"
#include "event.hpp"
#include "graph_nodes.hpp"
#include "graph_operations.hpp"
#include "host_operation.hpp"

namespace cass::hip {

hipError_t add_node(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                    std::size_t count, std::shared_ptr<Operation> operation) {
  const std::lock_guard lock(graph_lock());
  if (node == nullptr || !is_graph(graph) || (count > 0 && dependencies == nullptr)) {
    return hipErrorInvalidValue;
  }
  std::vector<hipGraphNode*> after;
  for (std::size_t index = 0; index < count; ++index) {
    auto* dependency = dependencies[index];
    if (!graph->contains(dependency)) return hipErrorInvalidValue;
    if (std::find(after.begin(), after.end(), dependency) != after.end()) {
      return hipErrorInvalidValue;
    }
    after.push_back(dependency);
  }
  *node = graph->add(std::move(operation), std::move(after));
  return hipSuccess;
}

hipError_t set_operation(hipGraphNode_t node, std::shared_ptr<Operation> operation) {
  const std::lock_guard lock(graph_lock());
  if (!is_node(node) || node->operation->node_type() != operation->node_type()) {
    return hipErrorInvalidValue;
  }
  node->operation = std::move(operation);
  return hipSuccess;
}

hipError_t set_operation(hipGraphExec_t exec, hipGraphNode_t node,
                         std::shared_ptr<Operation> operation) {
  const std::lock_guard lock(graph_lock());
  if (!is_exec(exec) || !is_node(node)) return hipErrorInvalidValue;
  auto* step = exec->step_of(node);
  if (step == nullptr || step->operation->node_type() != operation->node_type()) {
    return hipErrorInvalidValue;
  }
  step->operation = std::move(operation);
  return hipSuccess;
}

}  // namespace cass::hip

using namespace cass::hip;

namespace {

using OperationPointer = std::shared_ptr<Operation>;

// `made` is the outcome of making `operation`; then `use` puts it into a graph.
template <typename Use>
hipError_t after_making(hipError_t made, OperationPointer& operation, Use use) {
  return record(made != hipSuccess ? made : use(std::move(operation)));
}

#define CASS_ADD(making)                                                \
  OperationPointer operation;                                           \
  return after_making(making, operation, [&](OperationPointer made) {   \
    return add_node(node, graph, dependencies, count, std::move(made)); \
  })
#define CASS_SET(making)                 \
  OperationPointer operation;            \
  return after_making(making, operation, \
                      [&](OperationPointer made) { return set_operation(node, std::move(made)); })
#define CASS_SET_EXEC(making)                                         \
  OperationPointer operation;                                         \
  return after_making(making, operation, [&](OperationPointer made) { \
    return set_operation(exec, node, std::move(made));                \
  })

template <typename Kind>
hipError_t event_operation(hipEvent_t event, OperationPointer* made) {
  auto known = event_of(event);
  if (known == nullptr) return hipErrorInvalidValue;
  *made = std::make_shared<Kind>(std::move(known));
  return hipSuccess;
}

template <typename Kind>
hipError_t get_event(hipGraphNode_t node, hipEvent_t* event) {
  const auto operation = operation_of<Kind>(node);
  if (operation == nullptr || event == nullptr) return record(hipErrorInvalidValue);
  *event = operation->event.get();
  return hipSuccess;
}

}  // namespace

// Kernels

hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph,
                                 const hipGraphNode_t* dependencies, std::size_t count,
                                 const hipKernelNodeParams* parameters) {
  CASS_ADD(kernel_operation(parameters, &operation));
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* parameters) {
  const auto operation = operation_of<KernelOperation>(node);
  if (operation == nullptr || parameters == nullptr) return record(hipErrorInvalidValue);
  *parameters = operation->parameters();
  return hipSuccess;
}

hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* parameters) {
  CASS_SET(kernel_operation(parameters, &operation));
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams* parameters) {
  CASS_SET_EXEC(kernel_operation(parameters, &operation));
}

hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          const hipKernelNodeAttrValue* value) {
  const auto operation = operation_of<KernelOperation>(node);
  if (operation == nullptr || value == nullptr ||
      static_cast<std::size_t>(attribute) >= std::size(operation->attributes)) {
    return record(hipErrorInvalidValue);
  }
  operation->attributes[attribute] = *value;
  return hipSuccess;
}

hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          hipKernelNodeAttrValue* value) {
  const auto operation = operation_of<KernelOperation>(node);
  if (operation == nullptr || value == nullptr ||
      static_cast<std::size_t>(attribute) >= std::size(operation->attributes)) {
    return record(hipErrorInvalidValue);
  }
  *value = operation->attributes[attribute];
  return hipSuccess;
}

hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t source, hipGraphNode_t destination) {
  const auto from = operation_of<KernelOperation>(source);
  const auto to = operation_of<KernelOperation>(destination);
  if (from == nullptr || to == nullptr) return record(hipErrorInvalidValue);
  std::copy(std::begin(from->attributes), std::end(from->attributes), std::begin(to->attributes));
  return hipSuccess;
}

// Copies

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph,
                                 const hipGraphNode_t* dependencies, std::size_t count,
                                 const hipMemcpy3DParms* parameters) {
  CASS_ADD(copy_operation(parameters, &operation));
}

hipError_t hipDrvGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph,
                                    const hipGraphNode_t* dependencies, std::size_t count,
                                    const HIP_MEMCPY3D* parameters, hipCtx_t) {
  if (parameters == nullptr) return record(hipErrorInvalidValue);
  CopyRequest request;
  if (const auto error = request_of(*parameters, &request); error != hipSuccess) {
    return record(error);
  }
  return record(
      add_node(node, graph, dependencies, count, std::make_shared<CopyOperation>(request)));
}

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* parameters) {
  const auto operation = operation_of<CopyOperation>(node);
  if (operation == nullptr || parameters == nullptr) return record(hipErrorInvalidValue);
  *parameters = parameters_of(*operation);
  return hipSuccess;
}

hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* parameters) {
  CASS_SET(copy_operation(parameters, &operation));
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           hipMemcpy3DParms* parameters) {
  CASS_SET_EXEC(copy_operation(parameters, &operation));
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph,
                                   const hipGraphNode_t* dependencies, std::size_t count,
                                   void* destination, const void* source, std::size_t bytes,
                                   hipMemcpyKind kind) {
  CASS_ADD(copy_operation(destination, source, bytes, kind, &operation));
}

hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* destination, const void* source,
                                         std::size_t bytes, hipMemcpyKind kind) {
  CASS_SET(copy_operation(destination, source, bytes, kind, &operation));
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node,
                                             void* destination, const void* source,
                                             std::size_t bytes, hipMemcpyKind kind) {
  CASS_SET_EXEC(copy_operation(destination, source, bytes, kind, &operation));
}

hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                           const hipGraphNode_t* dependencies, std::size_t count,
                                           void* destination, const void* symbol, std::size_t bytes,
                                           std::size_t offset, hipMemcpyKind kind) {
  CASS_ADD(copy_from_symbol_operation(destination, symbol, bytes, offset, kind, &operation));
}

hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* destination,
                                                 const void* symbol, std::size_t bytes,
                                                 std::size_t offset, hipMemcpyKind kind) {
  CASS_SET(copy_from_symbol_operation(destination, symbol, bytes, offset, kind, &operation));
}

hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node,
                                                     void* destination, const void* symbol,
                                                     std::size_t bytes, std::size_t offset,
                                                     hipMemcpyKind kind) {
  CASS_SET_EXEC(copy_from_symbol_operation(destination, symbol, bytes, offset, kind, &operation));
}

hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                         const hipGraphNode_t* dependencies, std::size_t count,
                                         const void* symbol, const void* source, std::size_t bytes,
                                         std::size_t offset, hipMemcpyKind kind) {
  CASS_ADD(copy_to_symbol_operation(symbol, source, bytes, offset, kind, &operation));
}

hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol,
                                               const void* source, std::size_t bytes,
                                               std::size_t offset, hipMemcpyKind kind) {
  CASS_SET(copy_to_symbol_operation(symbol, source, bytes, offset, kind, &operation));
}

hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node,
                                                   const void* symbol, const void* source,
                                                   std::size_t bytes, std::size_t offset,
                                                   hipMemcpyKind kind) {
  CASS_SET_EXEC(copy_to_symbol_operation(symbol, source, bytes, offset, kind, &operation));
}

// Fills

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph,
                                 const hipGraphNode_t* dependencies, std::size_t count,
                                 const hipMemsetParams* parameters) {
  CASS_ADD(fill_operation(parameters, &operation));
}

hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph,
                                    const hipGraphNode_t* dependencies, std::size_t count,
                                    const HIP_MEMSET_NODE_PARAMS* parameters, hipCtx_t) {
  if (parameters == nullptr) return record(hipErrorInvalidValue);
  const auto& p = *parameters;
  const hipMemsetParams same{p.dst, p.elementSize, p.height, p.pitch, p.value, p.width};
  return hipGraphAddMemsetNode(node, graph, dependencies, count, &same);
}

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* parameters) {
  const auto operation = operation_of<FillOperation>(node);
  if (operation == nullptr || parameters == nullptr) return record(hipErrorInvalidValue);
  *parameters = parameters_of(*operation);
  return hipSuccess;
}

hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* parameters) {
  CASS_SET(fill_operation(parameters, &operation));
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipMemsetParams* parameters) {
  CASS_SET_EXEC(fill_operation(parameters, &operation));
}

// Host functions

hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph,
                               const hipGraphNode_t* dependencies, std::size_t count,
                               const hipHostNodeParams* parameters) {
  CASS_ADD(host_operation(parameters, &operation));
}

hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* parameters) {
  const auto operation = operation_of<HostOperation>(node);
  if (operation == nullptr || parameters == nullptr) return record(hipErrorInvalidValue);
  *parameters = operation->parameters;
  return hipSuccess;
}

hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* parameters) {
  CASS_SET(host_operation(parameters, &operation));
}

hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                         const hipHostNodeParams* parameters) {
  CASS_SET_EXEC(host_operation(parameters, &operation));
}

// Child graphs and empty nodes

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph,
                                     const hipGraphNode_t* dependencies, std::size_t count,
                                     hipGraph_t child) {
  CASS_ADD(child_operation(child, &operation));
}

hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* graph) {
  const auto operation = operation_of<ChildGraphOperation>(node);
  if (operation == nullptr || graph == nullptr) return record(hipErrorInvalidValue);
  *graph = operation->graph.get();
  return hipSuccess;
}

hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                               hipGraph_t child) {
  CASS_SET_EXEC(child_operation(child, &operation));
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph,
                                const hipGraphNode_t* dependencies, std::size_t count) {
  return record(add_node(node, graph, dependencies, count, std::make_shared<EmptyOperation>()));
}

// Events

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph,
                                      const hipGraphNode_t* dependencies, std::size_t count,
                                      hipEvent_t event) {
  CASS_ADD(event_operation<EventRecordOperation>(event, &operation));
}

hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return get_event<EventRecordOperation>(node, event);
}

hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  CASS_SET(event_operation<EventRecordOperation>(event, &operation));
}

hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node,
                                               hipEvent_t event) {
  CASS_SET_EXEC(event_operation<EventRecordOperation>(event, &operation));
}

hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph,
                                    const hipGraphNode_t* dependencies, std::size_t count,
                                    hipEvent_t event) {
  CASS_ADD(event_operation<EventWaitOperation>(event, &operation));
}

hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return get_event<EventWaitOperation>(node, event);
}

hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  CASS_SET(event_operation<EventWaitOperation>(event, &operation));
}

hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node,
                                             hipEvent_t event) {
  CASS_SET_EXEC(event_operation<EventWaitOperation>(event, &operation));
}

// Memory

hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph,
                                   const hipGraphNode_t* dependencies, std::size_t count,
                                   hipMemAllocNodeParams* parameters) {
  CASS_ADD(AllocateOperation::make(parameters, &operation));
}

hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams* parameters) {
  const auto operation = operation_of<AllocateOperation>(node);
  if (operation == nullptr || parameters == nullptr) return record(hipErrorInvalidValue);
  *parameters = operation->parameters;
  return hipSuccess;
}

hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph,
                                  const hipGraphNode_t* dependencies, std::size_t count,
                                  void* address) {
  if (address == nullptr) return record(hipErrorInvalidValue);
  return record(
      add_node(node, graph, dependencies, count, std::make_shared<FreeOperation>(address)));
}

hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void* address) {
  const auto operation = operation_of<FreeOperation>(node);
  if (operation == nullptr || address == nullptr) return record(hipErrorInvalidValue);
  *static_cast<void**>(address) = operation->address;
  return hipSuccess;
}

hipError_t hipGraphAddNode(hipGraphNode_t* node, hipGraph_t graph,
                           const hipGraphNode_t* dependencies, std::size_t count,
                           hipGraphNodeParams* parameters) {
  if (parameters == nullptr) return record(hipErrorInvalidValue);
  auto& p = *parameters;
  switch (p.type) {
    case hipGraphNodeTypeKernel:
      return hipGraphAddKernelNode(node, graph, dependencies, count, &p.kernel);
    case hipGraphNodeTypeMemcpy:
      return hipGraphAddMemcpyNode(node, graph, dependencies, count, &p.memcpy.copyParams);
    case hipGraphNodeTypeMemset:
      return hipGraphAddMemsetNode(node, graph, dependencies, count, &p.memset);
    case hipGraphNodeTypeHost:
      return hipGraphAddHostNode(node, graph, dependencies, count, &p.host);
    case hipGraphNodeTypeGraph:
      return hipGraphAddChildGraphNode(node, graph, dependencies, count, p.graph.graph);
    case hipGraphNodeTypeEmpty: return hipGraphAddEmptyNode(node, graph, dependencies, count);
    case hipGraphNodeTypeWaitEvent:
      return hipGraphAddEventWaitNode(node, graph, dependencies, count, p.eventWait.event);
    case hipGraphNodeTypeEventRecord:
      return hipGraphAddEventRecordNode(node, graph, dependencies, count, p.eventRecord.event);
    case hipGraphNodeTypeMemAlloc:
      return hipGraphAddMemAllocNode(node, graph, dependencies, count, &p.alloc);
    case hipGraphNodeTypeMemFree:
      return hipGraphAddMemFreeNode(node, graph, dependencies, count, p.free.dptr);
    default: return record(hipErrorNotSupported);
  }
}
