#include "check.h"

#include <cuda_runtime.h>
#include <iostream>
#include <stdexcept>

template <class T> struct Grid {
  T *values;
  int size;

  DEVICE void set(int place, T value) {
    CHECK(place < size);
    if (place < size) {
      values[place] = value;
    }
  }

  DEVICE HOST int last() const {
    CHECK(size > 0);
    return size - 1;
  }
};

__global__ void fill(Grid<float> grid) {
  grid.set(threadIdx.x, 2.5f * threadIdx.x);
  if (threadIdx.x == 0) {
    grid.set(grid.last() + 1, 0.0f);
  }
}

int main() {
  Grid<float> grid{nullptr, 4};
  cudaMalloc(&grid.values, grid.size * sizeof(float));
  fill<<<1, 4>>>(grid);
  float last = 0;
  cudaMemcpy(&last, grid.values + grid.last(), sizeof(last),
             cudaMemcpyDeviceToHost);
  std::cout << "last " << last << std::endl;
  try {
    Grid<float>{nullptr, 0}.last();
  } catch (const std::runtime_error &error) {
    std::cout << "host: " << error.what() << std::endl;
  }
  cudaFree(grid.values);
  return 0;
}
