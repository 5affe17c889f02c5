#include <atomic>
#include <iostream>
#include <string>
#include <thread>
#include <vector>
#define TRY(expression)                                                                            \
  if (cudaError_t code = (expression); code != cudaSuccess)                                        \
  throw std::runtime_error(std::string(__FILE__ ": " #expression ": ") + cudaGetErrorString(code))
template <typename T, int STEP>
__global__ void add(T* values, int n) {
  extern __shared__ unsigned char memory[];
  T* shared = reinterpret_cast<T*>(memory);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = i < n ? values[i] : T(0);
  __syncthreads();
  if (i < n) values[i] = shared[blockDim.x - 1 - threadIdx.x] + STEP;
}
static std::atomic<int> called{0};
static void CUDART_CB done(void* data) { called += *static_cast<int*>(data); }
long one(int seed) {
  const int n = 256;
  int *host, *device, weight = seed;
  cudaStream_t first, second;
  cudaEvent_t copied, begin, end;
  int least, greatest;
  TRY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  TRY(cudaStreamCreateWithPriority(&first, cudaStreamNonBlocking, greatest));
  TRY(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  TRY(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
  TRY(cudaEventCreate(&begin));
  TRY(cudaEventCreate(&end));
  TRY(cudaMallocHost((void**)&host, n * sizeof(int)));
  TRY(cudaMallocAsync((void**)&device, n * sizeof(int), first));
  for (int i = 0; i < n; ++i) host[i] = seed;
  TRY(cudaEventRecord(begin, first));
  TRY(cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, first));
  TRY(cudaEventRecord(copied, first));
  TRY(cudaStreamWaitEvent(second, copied, 0));
  add<int, 3><<<n / 64, 64, 64 * sizeof(int), second>>>(device, n);
  TRY(cudaGetLastError());
  TRY(cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, second));
  TRY(cudaLaunchHostFunc(second, done, &weight));
  TRY(cudaEventRecord(end, second));
  TRY(cudaEventSynchronize(end));
  float milliseconds = -1;
  TRY(cudaEventElapsedTime(&milliseconds, begin, end));
  long sum = milliseconds < 0;
  for (int i = 0; i < n; ++i) sum += host[i];
  TRY(cudaFreeAsync(device, first));
  TRY(cudaStreamSynchronize(first));
  TRY(cudaFreeHost(host));
  return sum;
}
int main() {
  std::vector<long> sums(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { sums[i] = one(i + 1); });
  for (auto& thread : threads) thread.join();
  for (long sum : sums) std::cout << sum << ' ';  // 256 * (seed + 3)
  std::cout << called << std::endl;
}
