// Autocorrelation of a signal at a range of lags, one lag a group.
__kernel void autocorrelation(__global const float *signal, __global float *result,
                              __local float *scratch, const int count) {
  const int lag = get_group_id(0);
  const int id = get_local_id(0);
  float sum = 0.0f;
  for (int i = id; i + lag < count; i += get_local_size(0)) {
    sum = fma(signal[i], signal[i + lag], sum);
  }
  scratch[id] = sum;
  for (int width = get_local_size(0) / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < width) {
      scratch[id] += scratch[id + width];
    }
  }
  if (id == 0) {
    result[lag] = scratch[0] / (float)(count - lag);
  }
}
