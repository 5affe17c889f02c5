#ifndef CASS_GRAPH_UPDATE
#define CASS_GRAPH_UPDATE
// CUDA 12's form of an update of a graph, whose results are in a structure. HIP does not say from
// which node a wrong edge comes.
namespace cass {
struct GraphExecUpdateResultInfo {
    hipGraphExecUpdateResult result;
    hipGraphNode_t errorNode;
    hipGraphNode_t errorFromNode;
};
inline hipError_t graph_exec_update(hipGraphExec_t executable, hipGraph_t graph,
                                    GraphExecUpdateResultInfo* info) {
    if (info == nullptr) return hipErrorInvalidValue;
    *info = {hipGraphExecUpdateError, nullptr, nullptr};
    return hipGraphExecUpdate(executable, graph, &info->errorNode, &info->result);
}
}  // namespace cass
#endif
