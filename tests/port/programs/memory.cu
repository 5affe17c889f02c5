#include <cstring>

#include "expect.h"

__constant__ int table[4] = {10, 20, 30, 40};
__device__ int counter = 5;
__managed__ int shared_value = 7;

__global__ void use(int* out) {
  out[threadIdx.x] = table[threadIdx.x] + counter + shared_value;
  if (threadIdx.x == 0) shared_value = 100;
}

__global__ void add_one(int* values, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count) values[at] += 1;
}

static void symbols() {
  int* out;
  int host[4];
  GOOD(cudaMalloc(&out, sizeof host));
  use<<<1, 4>>>(out);
  GOOD(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 22 && host[3] == 52);
  EXPECT(shared_value == 100);
  shared_value = 1;
  const int changed[2] = {-1, -2};
  GOOD(cudaMemcpyToSymbol(table, changed, sizeof changed, 4));
  const int five_more = 10;
  GOOD(cudaMemcpyToSymbol(counter, &five_more, sizeof five_more));
  use<<<1, 4>>>(out);
  GOOD(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 21 && host[1] == 10 && host[2] == 9 && host[3] == 51);
  int back = 0;
  GOOD(cudaMemcpyFromSymbol(&back, counter, sizeof back));
  EXPECT(back == 10);
  void* address = nullptr;
  std::size_t size = 0;
  GOOD(cudaGetSymbolAddress(&address, table));
  GOOD(cudaGetSymbolSize(&size, table));
  EXPECT(address != nullptr && size == sizeof(int) * 4);
  GOOD(cudaGetSymbolAddress(&address, shared_value));
  GOOD(cudaGetSymbolSize(&size, shared_value));
  EXPECT(address == &shared_value && size == sizeof(int));
  GOOD(cudaMemcpyToSymbol(shared_value, &five_more, sizeof five_more));
  EXPECT(shared_value == 10);
  GOOD(cudaMemcpyFromSymbol(&back, shared_value, sizeof back));
  EXPECT(back == 10);
  EXPECT(cudaMemcpyFromSymbol(&back, shared_value, sizeof back, 1) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  GOOD(cudaFree(out));
}

static void kinds() {
  constexpr int count = 1000;
  int *managed, *pinned, *device;
  GOOD(cudaMallocManaged(&managed, count * sizeof(int)));
  GOOD(cudaHostAlloc(&pinned, count * sizeof(int), cudaHostAllocMapped));
  for (int at = 0; at < count; ++at) managed[at] = at;
  add_one<<<4, 256>>>(managed, count);
  GOOD(cudaDeviceSynchronize());
  EXPECT(managed[0] == 1 && managed[count - 1] == count);
  cudaPointerAttributes attributes;
  GOOD(cudaPointerGetAttributes(&attributes, managed));
  EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == managed);
  GOOD(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  GOOD(cudaPointerGetAttributes(&attributes, &device));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  GOOD(cudaMalloc(&device, count * sizeof(int)));
  GOOD(cudaMemset(device, 0xFF, count * sizeof(int)));
  add_one<<<4, 256>>>(device, count);
  GOOD(cudaMemcpy(pinned, device, count * sizeof(int), cudaMemcpyDefault));
  EXPECT(pinned[0] == 0 && pinned[count - 1] == 0);
  GOOD(cudaFree(device));
  GOOD(cudaFree(managed));
  GOOD(cudaFreeHost(pinned));
}

static void shapes() {
  char host[3][8], back[3][8];
  for (int row = 0; row < 3; ++row) std::memset(host[row], 'a' + row, 8);
  char* device;
  std::size_t pitch = 0;
  GOOD(cudaMallocPitch(&device, &pitch, 8, 3));
  EXPECT(pitch >= 8);
  GOOD(cudaMemcpy2D(device, pitch, host, 8, 8, 3, cudaMemcpyHostToDevice));
  GOOD(cudaMemset2D(device + 2, pitch, 'z', 2, 2));
  GOOD(cudaMemcpy2D(back, 8, device, pitch, 8, 3, cudaMemcpyDeviceToHost));
  EXPECT(std::memcmp(back[0], "aazzaaaa", 8) == 0 && std::memcmp(back[2], "cccccccc", 8) == 0);
  GOOD(cudaFree(device));
  cudaPitchedPtr block;
  GOOD(cudaMalloc3D(&block, make_cudaExtent(8, 3, 2)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host, 8, 8, 3);
  copy.dstPtr = block;
  copy.extent = make_cudaExtent(8, 3, 1);
  copy.kind = cudaMemcpyHostToDevice;
  GOOD(cudaMemcpy3D(&copy));
  GOOD(cudaMemcpy2D(back, 8, block.ptr, block.pitch, 8, 3, cudaMemcpyDeviceToHost));
  EXPECT(std::memcmp(back, host, sizeof back) == 0);
  GOOD(cudaFree(block.ptr));
}

static void pools() {
  cudaStream_t stream;
  int *device, host = 0;
  GOOD(cudaStreamCreate(&stream));
  GOOD(cudaMallocAsync(&device, sizeof host, stream));
  GOOD(cudaMemsetAsync(device, 0, sizeof host, stream));
  add_one<<<1, 1, 0, stream>>>(device, 1);
  GOOD(cudaMemcpyAsync(&host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
  GOOD(cudaFreeAsync(device, stream));
  GOOD(cudaStreamSynchronize(stream));
  EXPECT(host == 1);
  GOOD(cudaStreamDestroy(stream));
}

int main() {
  symbols();
  kinds();
  shapes();
  pools();
  return failures;
}
