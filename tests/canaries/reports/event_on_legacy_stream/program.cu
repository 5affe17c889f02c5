// A non-blocking stream is ordered behind the legacy stream by an event only.
#include <cstdio>

__global__ void set(int* value, int amount) {
  for (int i = 0; i < 1000; i++) atomicExch(value, amount);
}
__global__ void add(int* value, int amount) { *value += amount; }

int main() {
  int* value;
  cudaMalloc(&value, sizeof(int));
  cudaStream_t stream;
  cudaEvent_t event;
  printf("%d ", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  printf("%d ", cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  set<<<1, 1, 0, cudaStreamLegacy>>>(value, 40);
  printf("%d ", cudaEventRecord(event, cudaStreamLegacy));
  printf("%d\n", cudaStreamWaitEvent(stream, event, 0));
  add<<<1, 1, 0, stream>>>(value, 2);
  int host = 0;
  cudaMemcpyAsync(&host, value, sizeof host, cudaMemcpyDeviceToHost, stream);
  printf("%d %d ", cudaStreamSynchronize(stream), cudaEventQuery(event));
  printf("%d\n", host);
}
