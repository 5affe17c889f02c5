// The four directions of each operation, as bits.
#include <cstdio>

__global__ void round(const float* in, unsigned* out) {
  const float a = in[0], b = in[1], three = in[2], ten = in[3], two = in[4];
  int i = 0;
#define PUT(value) out[i++] = __float_as_uint(value)
  PUT(__fadd_rn(a, b)), PUT(__fadd_rz(a, b)), PUT(__fadd_ru(a, b)), PUT(__fadd_rd(a, b));
  PUT(__fsub_rn(-a, b)), PUT(__fsub_rz(-a, b)), PUT(__fsub_ru(-a, b)), PUT(__fsub_rd(-a, b));
  PUT(__fmul_rn(three, 0.1f)), PUT(__fmul_rz(three, 0.1f));
  PUT(__fmul_ru(three, 0.1f)), PUT(__fmul_rd(three, 0.1f));
  PUT(__fdiv_rn(ten, three)), PUT(__fdiv_rz(ten, three));
  PUT(__fdiv_ru(ten, three)), PUT(__fdiv_rd(ten, three));
  PUT(__fsqrt_rn(two)), PUT(__fsqrt_rz(two)), PUT(__fsqrt_ru(two)), PUT(__fsqrt_rd(two));
  PUT(__frcp_rn(three)), PUT(__frcp_rz(three)), PUT(__frcp_ru(three)), PUT(__frcp_rd(three));
  PUT(__fmaf_rn(a, a, b)), PUT(__fmaf_rz(a, a, b)), PUT(__fmaf_ru(a, a, b)), PUT(__fmaf_rd(a, a, b));
}

int main() {
  float* in;
  unsigned* out;
  cudaMallocManaged(&in, 5 * sizeof(float));
  cudaMallocManaged(&out, 28 * sizeof(unsigned));
  in[0] = 1.0f, in[1] = 0x1p-25f, in[2] = 3.0f, in[3] = 10.0f, in[4] = 2.0f;
  round<<<1, 1>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 28; i++) printf("%08x%c", out[i], i % 4 == 3 ? '\n' : ' ');
}
