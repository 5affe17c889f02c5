// Interval arithmetic of doubles: lower ends round down, upper ends up.
#include <cstdio>

__global__ void round(const double* in, long long* out) {
  const double one = in[0], tiny = in[1], three = in[2], ten = in[3], two = in[4];
  int i = 0;
#define PUT(value) out[i++] = __double_as_longlong(value)
  PUT(__dadd_rz(one, tiny)), PUT(__dadd_ru(one, tiny)), PUT(__dadd_rd(one, tiny));
  PUT(__dsub_rz(-one, tiny)), PUT(__dsub_ru(-one, tiny)), PUT(__dsub_rd(-one, tiny));
  PUT(__dmul_rz(three, 0.1)), PUT(__dmul_ru(three, 0.1)), PUT(__dmul_rd(three, 0.1));
  PUT(__ddiv_rz(ten, three)), PUT(__ddiv_ru(ten, three)), PUT(__ddiv_rd(ten, three));
  PUT(__dsqrt_rz(two)), PUT(__dsqrt_ru(two)), PUT(__dsqrt_rd(two));
  PUT(__drcp_rz(three)), PUT(__drcp_ru(three)), PUT(__drcp_rd(three));
  PUT(__fma_rz(one, one, tiny)), PUT(__fma_ru(one, one, tiny)), PUT(__fma_rd(one, one, tiny));
}

int main() {
  double* in;
  long long* out;
  cudaMallocManaged(&in, 5 * sizeof(double));
  cudaMallocManaged(&out, 21 * sizeof(long long));
  in[0] = 1.0, in[1] = 0x1p-60, in[2] = 3.0, in[3] = 10.0, in[4] = 2.0;
  round<<<1, 1>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 21; i++) printf("%016llx%c", out[i], i % 3 == 2 ? '\n' : ' ');
}
