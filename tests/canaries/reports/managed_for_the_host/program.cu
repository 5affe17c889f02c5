// Managed memory that starts with the host and is then given to a stream.
#include <cstdio>

__global__ void add(int* values) { values[threadIdx.x] += 5; }

int main() {
  int *host, *global;
  printf("%d ", cudaMallocManaged(&host, 32 * sizeof(int), cudaMemAttachHost));
  printf("%d ", cudaMallocManaged(&global, 32 * sizeof(int), cudaMemAttachGlobal));
  printf("%d\n", cudaMallocManaged(&global, 0));
  for (int i = 0; i < 32; i++) host[i] = i;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  printf("%d ", cudaStreamAttachMemAsync(stream, host, 0, cudaMemAttachSingle));
  printf("%d ", cudaStreamSynchronize(stream));
  add<<<1, 32, 0, stream>>>(host);
  printf("%d\n", cudaStreamSynchronize(stream));
  printf("%d %d ", host[0], host[31]);
  printf("%d\n", cudaFree(host));
}
