"""Launches with attributes and CUDA 12's graph updates do what CUDA's documentation says."""

from __future__ import annotations

import pytest

from cass_ray.translate.engines.registry import make_translator
from tests.translate.programs import output_of

SOURCE = r"""
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void add(int* values, long long amount, const float factor) {
  cudaGridDependencySynchronize();
  values[blockIdx.x * blockDim.x + threadIdx.x] += static_cast<int>(amount * factor);
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void dynamic(int* values) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

__global__ void cooperative(int* values) {
  values[blockIdx.x] = 0;
  cooperative_groups::this_grid().sync();
  atomicAdd(values, 1);
}

int main() {
  int host[64], *device;
  cudaMalloc(&device, sizeof host);
  cudaMemset(device, 0, sizeof host);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaLaunchAttribute attributes[3] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributePriority;
  attributes[1].val.priority = 0;
  attributes[2].id = cudaLaunchAttributeIgnore;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 3;
  // The arguments are converted to the parameters' types: int to long long, int to float.
  printf("launch: %d\n", cudaLaunchKernelEx(&config, add, device, 21, 2) == cudaSuccess);
  cudaLaunchKernelEx(&config, add, device, 1LL, 3.5);
  cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  printf("added: %d %d\n", host[0], host[63]);

  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  config = {};
  config.gridDim = 1;
  config.blockDim = 64;
  config.dynamicSmemBytes = 64 * sizeof(int);
  void* arguments[] = {&device};
  cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(dynamic), arguments);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  printf("shared: %d %d\n", host[0], host[63]);

  cudaLaunchAttribute together;
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  config = {dim3(4), dim3(8), 0, nullptr, &together, 1};
  cudaLaunchKernelEx(&config, cooperative, device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  printf("cooperative: %d %d\n", host[0], host[3]);

  config.attrs = nullptr;
  cudaError_t none = cudaLaunchKernelEx(&config, cooperative, device);
  printf("no attributes: %d\n", none == cudaErrorInvalidValue);
  together.id = static_cast<cudaLaunchAttributeID>(4);  // clusters
  config.attrs = &together;
  printf("other: %d\n", cudaLaunchKernelEx(&config, cooperative, device) == cudaSuccess);

  cudaStreamAttrValue hint = {};
  hint.accessPolicyWindow.base_ptr = device;
  hint.accessPolicyWindow.num_bytes = sizeof host;
  hint.accessPolicyWindow.hitRatio = 1.0f;
  hint.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  hint.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaError_t window = cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &hint);
  cudaLaunchAttributeValue first = {};
  first.priority = 0;
  cudaError_t priority = cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, &first);
  cudaError_t nothing = cudaStreamSetAttribute(stream, cudaStreamAttributePriority, nullptr);
  printf("hints: %d %d %d %d\n", window, priority, nothing, cudaCtxResetPersistingL2Cache());

  cudaEvent_t half, never;
  cudaEventCreate(&half);
  cudaEventCreate(&never);
  cudaMemset(device, 0, sizeof host);
  cudaDeviceSynchronize();
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  add<<<2, 32, 0, stream>>>(device, 1, 1.0f);
  cudaError_t waits = cudaStreamWaitEvent(stream, half, cudaEventWaitExternal);
  cudaError_t captured = cudaEventRecordWithFlags(half, stream, cudaEventRecordExternal);
  add<<<2, 32, 0, stream>>>(device, 2, 1.0f);
  cudaStreamEndCapture(stream, &graph);
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphInstantiateWithFlags(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);
  cudaError_t awaited = cudaEventSynchronize(half);
  cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  printf("graph: %d %d %d %d\n", waits, captured, awaited, static_cast<int>(nodes));
  printf("after it: %d\n", host[63]);
  cudaError_t outside = cudaEventRecordWithFlags(never, stream, cudaEventRecordExternal);
  printf("outside: %d\n", outside == cudaErrorIllegalState);
  printf("plainly: %d\n", cudaEventRecordWithFlags(never, stream, cudaEventRecordDefault));
}
"""


@pytest.fixture(scope="module")
def output() -> dict[str, str]:
    return output_of(SOURCE)


@pytest.mark.amd
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("launch", "1"),
        ("added", "45 45"),
        ("shared", "63 0"),
        ("cooperative", "32 0"),
        ("no attributes", "1"),
        ("other", "0"),
        ("hints", "0 0 1 0"),
        ("graph", "0 0 0 4"),
        ("after it", "3"),
        ("outside", "1"),
        ("plainly", "0"),
    ],
)
def test_a_launch_does_what_its_configuration_says(
    output: dict[str, str], name: str, value: str
) -> None:
    assert output[name] == value


CLUSTERS = (
    "void f(cudaLaunchAttribute* a) {\n  a->id = cudaLaunchAttributeClusterDimension;\n}\n",
    "void f(cudaLaunchAttribute* a) {\n  a->id = cudaLaunchAttributeProgrammaticEvent;\n}\n",
)


@pytest.mark.parametrize("source", CLUSTERS)
def test_attributes_that_mean_something_else_are_refused_by_name(source: str) -> None:
    [finding] = make_translator("rules").translate(source).errors
    name = source.split("a->id = ")[1].split(";")[0]
    assert finding.message.startswith(name)
    assert finding.line == 2


UPDATE = """
void f(cudaGraphExec_t executable, cudaGraph_t graph) {
  cudaGraphExecUpdateResultInfo info;
  cudaError_t error = cudaGraphExecUpdate(executable, graph, &info);
  (void)(error == cudaSuccess && info.result == cudaGraphExecUpdateSuccess && !info.errorNode);
}
"""


def test_an_update_of_a_graph_gives_the_structure_of_cuda_12() -> None:
    made = make_translator("rules").translate(UPDATE)
    assert not made.errors
    assert "cass::graph_exec_update(executable, graph, &info)" in made.source
    assert "hipGraphExecUpdate(executable, graph, &info->errorNode, &info->result)" in made.source


def test_a_workspace_is_left_to_hipblas() -> None:
    made = make_translator("rules").translate("void f() { cublasSetWorkspace(h, p, 4096); }\n")
    assert not made.errors
    assert "cass::set_workspace(h, p, 4096)" in made.source
