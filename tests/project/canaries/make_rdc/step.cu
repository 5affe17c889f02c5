#include "step.cuh"
__device__ int calls;
__device__ int step(int value) {
  atomicAdd(&calls, 1);
  return value % 2 ? 3 * value + 1 : value / 2;
}
