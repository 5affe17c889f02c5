// An event forks the capture to a second stream; only the second try joins it again.
#include <cstdio>

__global__ void add(int* value, int amount) { atomicAdd(value, amount); }

int main() {
  int* value;
  cudaMallocManaged(&value, sizeof(int));
  *value = 0;
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEvent_t fork, join;
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  for (bool joined : {false, true}) {
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed);
    add<<<1, 1, 0, first>>>(value, 1);
    cudaEventRecord(fork, first);
    cudaStreamWaitEvent(second, fork, 0);
    add<<<1, 1, 0, second>>>(value, 10);
    if (joined) {
      cudaEventRecord(join, second);
      cudaStreamWaitEvent(first, join, 0);
    }
    const cudaError_t error = cudaStreamEndCapture(first, &graph);
    printf("%d %d\n", error, graph != nullptr);
    cudaGetLastError();
    if (error != cudaSuccess) continue;
    cudaGraphExec_t executable;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, first);
    cudaStreamSynchronize(first);
  }
  printf("%d\n", *value);
}
