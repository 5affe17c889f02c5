// One butterfly stage of an in-place radix-2 FFT; the input is in bit-reversed order.
__kernel void fft_stage(__global float2 *data, const int half_length, const int count) {
  const int butterfly = get_global_id(0);
  if (butterfly >= count / 2) {
    return;
  }
  const int group = butterfly / half_length;
  const int position = butterfly % half_length;
  const int low = group * 2 * half_length + position;
  const int high = low + half_length;
  const float angle = -M_PI_F * (float)position / (float)half_length;
  const float2 twiddle = (float2)(cos(angle), sin(angle));
  const float2 other = data[high];
  const float2 turned = (float2)(twiddle.x * other.x - twiddle.y * other.y,
                                 twiddle.x * other.y + twiddle.y * other.x);
  const float2 value = data[low];
  data[low] = value + turned;
  data[high] = value - turned;
}

__kernel void bit_reverse(__global const float2 *input, __global float2 *output, const int bits) {
  const uint index = get_global_id(0);
  uint reversed = 0;
  for (int bit = 0; bit < bits; ++bit) {
    reversed |= ((index >> bit) & 1u) << (bits - 1 - bit);
  }
  output[reversed] = input[index];
}
