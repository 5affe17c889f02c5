// Objects with pure virtual functions, made and called on the host and on the device.
#include <cstdio>

class Base {
  int x;

 public:
  __host__ __device__ explicit Base(int value) : x(value) {}
  virtual __host__ __device__ int value() const = 0;
  __host__ __device__ virtual ~Base() {}
  __host__ __device__ int own() const { return x; }
};

class Square : public Base {
 public:
  __host__ __device__ explicit Square(int value) : Base(value) {}
  __host__ __device__ int value() const override { return own() * own(); }
};

class Negative : public Base {
  const Base& inner;

 public:
  __host__ __device__ explicit Negative(const Base& of) : Base(1), inner(of) {}
  __host__ __device__ int value() const override { return -inner.value(); }
};

__global__ void make(Base** objects) {
  objects[0] = new Square(7);
  objects[1] = new Negative(*objects[0]);
}

__global__ void call(Base** objects, int* result) {
  result[threadIdx.x] = objects[threadIdx.x % 2]->value() + threadIdx.x;
}

__global__ void destroy(Base** objects) {
  delete objects[1];
  delete objects[0];
}

int main() {
  Base** objects;
  int* result;
  cudaMalloc(&objects, 2 * sizeof(Base*));
  cudaMallocManaged(&result, 4 * sizeof(int));
  make<<<1, 1>>>(objects);
  call<<<1, 4>>>(objects, result);
  destroy<<<1, 1>>>(objects);
  printf("%d\n", cudaDeviceSynchronize());
  printf("%d %d %d %d\n", result[0], result[1], result[2], result[3]);
  const Square square(3);
  printf("%d\n", Negative(square).value());
}
