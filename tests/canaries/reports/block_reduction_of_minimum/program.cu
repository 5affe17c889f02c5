// Pairs of a value and its place, reduced by a block with a functor of the program's own.
#include <cub/cub.cuh>
#include <cstdio>

struct Pair {
  float value;
  int place;
};
struct Less {
  __device__ Pair operator()(const Pair& a, const Pair& b) const {
    if (a.value == b.value) return a.place < b.place ? a : b;
    return a.value < b.value ? a : b;
  }
};
struct More {
  __device__ Pair operator()(const Pair& a, const Pair& b) const {
    if (a.value == b.value) return a.place < b.place ? a : b;
    return a.value > b.value ? a : b;
  }
};

template <int threads>
__global__ void extremes(const float* in, int count, Pair* out) {
  typedef cub::BlockReduce<Pair, threads> Reduce;
  __shared__ typename Reduce::TempStorage storage;
  Pair own = {in[threadIdx.x], static_cast<int>(threadIdx.x)};
  const Pair least = Reduce(storage).Reduce(own, Less(), count);
  __syncthreads();
  const Pair most = Reduce(storage).Reduce(own, More());
  if (threadIdx.x == 0) out[0] = least, out[1] = most;
}

template <int threads>
void run(const float* in, int count) {
  Pair* out;
  cudaMallocManaged(&out, 2 * sizeof(Pair));
  extremes<threads><<<1, threads>>>(in, count, out);
  cudaDeviceSynchronize();
  printf("%g@%d %g@%d\n", out[0].value, out[0].place, out[1].value, out[1].place);
}

int main() {
  float* in;
  cudaMallocManaged(&in, 256 * sizeof(float));
  for (int i = 0; i < 256; i++) in[i] = (i * 101 + 50) % 97;
  run<32>(in, 20);
  run<96>(in, 96);
  run<256>(in, 130);
}
