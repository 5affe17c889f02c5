// Direct convolution of a batch of images (channels first), with bias and rectifier.
__kernel void conv2d_relu(__global const float *input, __global const float *weights,
                          __global const float *bias, __global float *output, const int channels,
                          const int height, const int width, const int filters, const int size) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  const int filter = get_global_id(2) % filters;
  const int image = get_global_id(2) / filters;
  const int out_width = width - size + 1;
  const int out_height = height - size + 1;
  if (x >= out_width || y >= out_height) {
    return;
  }
  float sum = bias[filter];
  for (int channel = 0; channel < channels; ++channel) {
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        const int source = ((image * channels + channel) * height + y + i) * width + x + j;
        const int weight = ((filter * channels + channel) * size + i) * size + j;
        sum = fma(input[source], weights[weight], sum);
      }
    }
  }
  output[((image * filters + filter) * out_height + y) * out_width + x] = fmax(sum, 0.0f);
}
