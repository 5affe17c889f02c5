// Finite impulse response filter; each item computes four neighbouring outputs.
#define TAPS 63

__kernel void fir(__global const float *signal, __constant float *taps, __global float *output,
                  const int count) {
  const int first = 4 * get_global_id(0);
  if (first + 3 >= count) {
    return;
  }
  float4 sum = (float4)(0.0f);
  for (int tap = 0; tap < TAPS; ++tap) {
    sum = fma((float4)(taps[tap]), vload4(0, signal + first + tap), sum);
  }
  vstore4(sum, 0, output + first);
}
