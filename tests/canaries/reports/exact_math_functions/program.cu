// Functions whose results here are exact numbers.
#include <cmath>
#include <cstdio>

__global__ void work(const float* in, float* out, double* wide) {
  int i = 0, exponent, quotient;
  float whole;
  const float x = in[0], y = in[1], half = in[2], big = in[3];
  out[i++] = scalbnf(x, -3), out[i++] = ldexpf(x, 4), out[i++] = fdimf(x, y), out[i++] = fdimf(y, x);
  out[i++] = logbf(big), out[i++] = ilogbf(big), out[i++] = frexpf(big, &exponent), out[i++] = exponent;
  out[i++] = modff(-x, &whole), out[i++] = whole, out[i++] = remainderf(x, y), out[i++] = fmodf(-x, y);
  out[i++] = remquof(x, y, &quotient), out[i++] = quotient, out[i++] = sinpif(half), out[i++] = cospif(1.0f);
  out[i++] = nextafterf(1.0f, 2.0f) - 1.0f, out[i++] = copysignf(x, -0.0f), out[i++] = rintf(half);
  out[i++] = nearbyintf(x), out[i++] = llrintf(-x), out[i++] = lroundf(half), out[i++] = truncf(-x);
  out[i++] = __saturatef(x), out[i++] = fmaf(x, y, half), out[i++] = sqrtf(2.25f), out[i++] = fmaxf(NAN, x);
  wide[0] = scalbn(3.0, 60), wide[1] = fma(0x1p-30, 0x1p-30, 1.0) - 1.0, wide[2] = remainder(7.5, 2.0);
  wide[3] = sinpi(1.5), wide[4] = rint(-2.5), wide[5] = sqrt(0.25), wide[6] = trunc(-1e15 - 0.5);
}

int main() {
  float *in, *out;
  double* wide;
  cudaMallocManaged(&in, 4 * sizeof(float));
  cudaMallocManaged(&out, 27 * sizeof(float));
  cudaMallocManaged(&wide, 7 * sizeof(double));
  in[0] = 7.25f, in[1] = 2.0f, in[2] = 0.5f, in[3] = 1536.0f;
  work<<<1, 1>>>(in, out, wide);
  cudaDeviceSynchronize();
  for (int i = 0; i < 27; i++) printf("%g ", out[i]);
  printf("\n");
  for (int i = 0; i < 7; i++) printf("%.17g ", wide[i]);
  printf("\n");
}
