// Graphs: the calls that build, instantiate and launch them.
#include "forward.hpp"
#include "registration.hpp"

using namespace cass::cuda;

namespace {

hipKernelNodeParams converted(const KernelNodeParameters& given) {
  hipKernelNodeParams made{};
  made.func = given.func;
  made.gridDim = given.gridDim;
  made.blockDim = given.blockDim;
  made.sharedMemBytes = given.sharedMemBytes;
  made.kernelParams = given.kernelParams;
  made.extra = given.extra;
  return made;
}

// Makes a node of workgroups where the kernel asks for clusters; `made` has to live as long.
int launch_in_clusters(hipKernelNodeParams& node, ClusterLaunch& made) {
  const auto* found = registered_cluster(node.func);
  if (found == nullptr || !found->kernel.is_fixed()) return success;
  if (node.kernelParams == nullptr) return unsupported("packed arguments of a node of clusters");
  const auto grid = node.gridDim, block = node.blockDim;
  const auto [x, y, z] = found->kernel.shape;
  const BlockLaunch given{
      {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, {x, y, z}, node.sharedMemBytes};
  if (const int result = in_workgroups(found->kernel, given, made); result != success) {
    return result;
  }
  node.func = const_cast<void*>(found->launched);
  node.gridDim = {made.grid.x, made.grid.y, made.grid.z};
  node.blockDim = {made.workgroup.x, made.workgroup.y, made.workgroup.z};
  node.sharedMemBytes = static_cast<unsigned>(made.shared_bytes);
  node.kernelParams = made.with_words(found->kernel, node.kernelParams);
  return success;
}

hipMemsetParams converted(const MemsetParameters& given) {
  hipMemsetParams made{};
  made.dst = given.dst;
  made.pitch = given.pitch;
  made.value = given.value;
  made.elementSize = given.elementSize;
  made.width = given.width;
  made.height = given.height;
  return made;
}

}  // namespace

FORWARD(cudaGraphCreate, hipGraphCreate, (hipGraph_t * made, unsigned flags), (made, flags))
FORWARD(cudaGraphDestroy, hipGraphDestroy, (hipGraph_t graph), (graph))
FORWARD(cudaGraphClone, hipGraphClone, (hipGraph_t * made, hipGraph_t graph), (made, graph))
FORWARD(cudaGraphInstantiateWithFlags, hipGraphInstantiateWithFlags,
        (hipGraphExec_t * made, hipGraph_t graph, unsigned long long flags), (made, graph, flags))
// Since CUDA 12 the same as the one with flags.
FORWARD(cudaGraphInstantiate, hipGraphInstantiateWithFlags,
        (hipGraphExec_t * made, hipGraph_t graph, unsigned long long flags), (made, graph, flags))
FORWARD(cudaGraphExecDestroy, hipGraphExecDestroy, (hipGraphExec_t graph), (graph))
FORWARD_STREAM(cudaGraphLaunch, hipGraphLaunch, (hipGraphExec_t graph, hipStream_t stream),
               (graph, stream))
FORWARD_STREAM(cudaGraphUpload, hipGraphUpload, (hipGraphExec_t graph, hipStream_t stream),
               (graph, stream))
FORWARD(cudaGraphGetNodes, hipGraphGetNodes,
        (hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count), (graph, nodes, count))
FORWARD(cudaGraphGetRootNodes, hipGraphGetRootNodes,
        (hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count), (graph, nodes, count))
FORWARD(cudaGraphNodeGetType, hipGraphNodeGetType, (hipGraphNode_t node, hipGraphNodeType* type),
        (node, type))
FORWARD(cudaGraphDestroyNode, hipGraphDestroyNode, (hipGraphNode_t node), (node))
FORWARD(cudaGraphAddEmptyNode, hipGraphAddEmptyNode,
        (hipGraphNode_t * made, hipGraph_t graph, const hipGraphNode_t* after, std::size_t count),
        (made, graph, after, count))
FORWARD(cudaGraphAddHostNode, hipGraphAddHostNode,
        (hipGraphNode_t * made, hipGraph_t graph, const hipGraphNode_t* after, std::size_t count,
         const hipHostNodeParams* given),
        (made, graph, after, count, given))
FORWARD(cudaGraphAddMemcpyNode, hipGraphAddMemcpyNode,
        (hipGraphNode_t * made, hipGraph_t graph, const hipGraphNode_t* after, std::size_t count,
         const hipMemcpy3DParms* given),
        (made, graph, after, count, given))
FORWARD(cudaGraphAddMemcpyNode1D, hipGraphAddMemcpyNode1D,
        (hipGraphNode_t * made, hipGraph_t graph, const hipGraphNode_t* after, std::size_t count,
         void* target, const void* source, std::size_t size, hipMemcpyKind kind),
        (made, graph, after, count, target, source, size, kind))
FORWARD(cudaGraphAddEventRecordNode, hipGraphAddEventRecordNode,
        (hipGraphNode_t * made, hipGraph_t graph, const hipGraphNode_t* after, std::size_t count,
         hipEvent_t event),
        (made, graph, after, count, event))
FORWARD(cudaGraphAddEventWaitNode, hipGraphAddEventWaitNode,
        (hipGraphNode_t * made, hipGraph_t graph, const hipGraphNode_t* after, std::size_t count,
         hipEvent_t event),
        (made, graph, after, count, event))
FORWARD(cudaGraphAddChildGraphNode, hipGraphAddChildGraphNode,
        (hipGraphNode_t * made, hipGraph_t graph, const hipGraphNode_t* after, std::size_t count,
         hipGraph_t child),
        (made, graph, after, count, child))

CUDA_API int cudaGraphAddKernelNode(hipGraphNode_t* made, hipGraph_t graph,
                                    const hipGraphNode_t* after, std::size_t count,
                                    const KernelNodeParameters* given) {
  if (given == nullptr) return fail(invalid_value);
  ClusterLaunch in_clusters;
  auto parameters = converted(*given);
  if (const int result = launch_in_clusters(parameters, in_clusters); result != success) {
    return fail(result);
  }
  return finish(hipGraphAddKernelNode(made, graph, after, count, &parameters));
}

CUDA_API int cudaGraphExecKernelNodeSetParams(hipGraphExec_t graph, hipGraphNode_t node,
                                              const KernelNodeParameters* given) {
  if (given == nullptr) return fail(invalid_value);
  ClusterLaunch in_clusters;
  auto parameters = converted(*given);
  if (const int result = launch_in_clusters(parameters, in_clusters); result != success) {
    return fail(result);
  }
  return finish(hipGraphExecKernelNodeSetParams(graph, node, &parameters));
}

CUDA_API int cudaGraphAddMemsetNode(hipGraphNode_t* made, hipGraph_t graph,
                                    const hipGraphNode_t* after, std::size_t count,
                                    const MemsetParameters* given) {
  if (given == nullptr) return fail(invalid_value);
  const auto parameters = converted(*given);
  return finish(hipGraphAddMemsetNode(made, graph, after, count, &parameters));
}

#if CASS_CUDA_VERSION >= 13
// Edge data say how nodes depend on each other; null means fully.
CUDA_API int cudaGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from,
                                      const hipGraphNode_t* to, const void* edges,
                                      std::size_t count) {
  if (edges != nullptr) return unsupported("edge data of cudaGraphAddDependencies");
  return finish(hipGraphAddDependencies(graph, from, to, count));
}
#else
FORWARD(cudaGraphAddDependencies, hipGraphAddDependencies,
        (hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to, std::size_t count),
        (graph, from, to, count))
#endif
