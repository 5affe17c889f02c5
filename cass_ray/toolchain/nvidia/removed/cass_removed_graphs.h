// Functions of graphs as CUDA 12 has them: those of CUDA 13 take data of edges, too, and null for
// none means what those without meant ("CUDA 13.0 Release Notes", changed functions).
#pragma once

#define CASS_OF_EDGES(name)                                                      \
  static inline cudaError_t name(cudaGraph_t graph, const cudaGraphNode_t* from, \
                                 const cudaGraphNode_t* to, size_t number) {     \
    return ::name(graph, from, to, nullptr, number);                             \
  }
CASS_OF_EDGES(cudaGraphAddDependencies)
CASS_OF_EDGES(cudaGraphRemoveDependencies)
#undef CASS_OF_EDGES

static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                            cudaGraphNode_t* to, size_t* number) {
  return ::cudaGraphGetEdges(graph, from, to, nullptr, number);
}
static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                       size_t* number) {
  return ::cudaGraphNodeGetDependencies(node, nodes, nullptr, number);
}
static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                         cudaGraphNode_t* nodes, size_t* number) {
  return ::cudaGraphNodeGetDependentNodes(node, nodes, nullptr, number);
}
static inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                              cudaGraphNode_t* nodes, size_t number,
                                                              unsigned int flags = 0) {
  return ::cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, number, flags);
}
static inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                                   cudaStreamCaptureStatus* status,
                                                   unsigned long long* id, cudaGraph_t* graph,
                                                   const cudaGraphNode_t** nodes, size_t* number) {
  return ::cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, number);
}
static inline cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                                      cudaStreamCaptureStatus* status,
                                                      unsigned long long* id = nullptr,
                                                      cudaGraph_t* graph = nullptr,
                                                      const cudaGraphNode_t** nodes = nullptr,
                                                      size_t* number = nullptr) {
  return ::cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, number);
}
