// After a capture that was lost, the same stream captures a graph that works.
#include <cstdio>

__global__ void add(int* value, int amount) { *value += amount; }

int main() {
  int* value;
  cudaMallocManaged(&value, sizeof(int));
  *value = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 1, 0, stream>>>(value, 100);
  printf("%d ", cudaStreamSynchronize(stream));
  printf("%d\n", cudaStreamEndCapture(stream, &graph));
  cudaGetLastError();
  for (int round = 1; round <= 2; round++) {
    printf("%d ", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(value, round);
    printf("%d ", cudaStreamEndCapture(stream, &graph));
    printf("%d ", cudaGraphInstantiate(&executable, graph, 0));
    cudaGraphLaunch(executable, stream);
    cudaGraphLaunch(executable, stream);
    printf("%d ", cudaStreamSynchronize(stream));
    printf("%d\n", *value);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
}
