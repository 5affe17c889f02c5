// A box of floats around points of doubles.
#include <cstdio>

__global__ void bounds(const double* in, unsigned* out, int count) {
  if (threadIdx.x >= count) return;
  const double x = in[threadIdx.x];
  unsigned* own = out + 4 * threadIdx.x;
  own[0] = __float_as_uint(__double2float_rd(x));
  own[1] = __float_as_uint(__double2float_ru(x));
  own[2] = __float_as_uint(__double2float_rn(x));
  own[3] = __float_as_uint(__double2float_rz(x));
}

int main() {
  double* in;
  unsigned* out;
  cudaMallocManaged(&in, 6 * sizeof(double));
  cudaMallocManaged(&out, 24 * sizeof(unsigned));
  const double values[] = {1.0 + 0x1p-30, -1.0 - 0x1p-30, 0.1, -0.1, 1e300, 1e-60};
  for (int i = 0; i < 6; i++) in[i] = values[i];
  bounds<<<1, 32>>>(in, out, 6);
  cudaDeviceSynchronize();
  for (int i = 0; i < 24; i++) printf("%08x%c", out[i], i % 4 == 3 ? '\n' : ' ');
}
