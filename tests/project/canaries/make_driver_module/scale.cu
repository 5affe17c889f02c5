__device__ __constant__ float factor;
extern "C" __global__ void scale(float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= factor;
}
