// Gaussian error linear unit, exact and by its usual approximation with tanh.
__kernel void gelu_exact(__global const float *input, __global float *output, const int count) {
  const int i = get_global_id(0);
  if (i < count) {
    const float x = input[i];
    output[i] = 0.5f * x * (1.0f + erf(x * M_SQRT1_2_F));
  }
}

__kernel void gelu_tanh(__global const float *input, __global float *output, const int count) {
  const int i = get_global_id(0);
  if (i < count) {
    const float x = input[i];
    const float inner = 0.7978845608f * fma(0.044715f * x * x, x, x);
    output[i] = 0.5f * x * (1.0f + tanh(inner));
  }
}
