// Layer normalisation with learned scale and shift; Welford's update within an item.
__kernel void layer_norm(__global const float *input, __global const float *scale,
                         __global const float *shift, __global float *output, const int rows,
                         const int columns, const float epsilon) {
  const int row = get_global_id(0);
  if (row >= rows) {
    return;
  }
  __global const float *values = input + (size_t)row * columns;
  float mean = 0.0f;
  float squares = 0.0f;
  for (int i = 0; i < columns; ++i) {
    const float delta = values[i] - mean;
    mean += delta / (float)(i + 1);
    squares = fma(delta, values[i] - mean, squares);
  }
  const float factor = rsqrt(squares / (float)columns + epsilon);
  for (int i = 0; i < columns; ++i) {
    output[(size_t)row * columns + i] = fma((values[i] - mean) * factor, scale[i], shift[i]);
  }
}
