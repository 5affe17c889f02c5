// A table of device functions, pointers as template arguments, and pointers kept in structs.
#include <cstdio>

typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ Operation operations[] = {plus, times, minus};
__device__ Operation chosen = minus;

template <Operation operation>
__device__ int apply(int a, int b) {
  return operation(a, b);
}

struct Task {
  Operation operation;
  int a, b;
};

__global__ void work(int* result, Operation last) {
  const int i = threadIdx.x;
  const Task task = {i == 4 ? last : operations[i % 3], i + 5, 3};
  result[i] = task.operation(task.a, task.b) + apply<times>(i, 100);
}

int main() {
  Operation host;
  int* result;
  cudaMemcpyFromSymbol(&host, chosen, sizeof host);
  cudaMallocManaged(&result, 6 * sizeof(int));
  work<<<1, 6>>>(result, host);
  printf("%d\n", cudaDeviceSynchronize());
  for (int i = 0; i < 6; i++) printf("%d ", result[i]);
  printf("\n");
}
