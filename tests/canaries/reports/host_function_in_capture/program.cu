// A host function between two kernels of a graph, which is launched three times.
#include <cstdio>

__global__ void add(int* value, int amount) { *value += amount; }

void twice(void* data) { *static_cast<int*>(data) *= 2; }

int main() {
  int* value;
  cudaMallocManaged(&value, sizeof(int));
  *value = 1;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  printf("%d ", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(value, 3);
  printf("%d ", cudaLaunchHostFunc(stream, twice, value));
  add<<<1, 1, 0, stream>>>(value, 1);
  printf("%d ", cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  printf("%d %d\n", static_cast<int>(nodes), *value);
  printf("%d\n", cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; i++) {
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    printf("%d\n", *value);
  }
}
