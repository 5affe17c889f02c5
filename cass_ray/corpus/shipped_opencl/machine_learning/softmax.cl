// Softmax of each row by one group: maximum, sum of exponentials, division.
__kernel void softmax_rows(__global const float *logits, __global float *probabilities,
                           __local float *scratch, const int columns) {
  const int row = get_group_id(0);
  const int id = get_local_id(0);
  const int threads = get_local_size(0);
  __global const float *input = logits + row * columns;
  float highest = -INFINITY;
  for (int i = id; i < columns; i += threads) {
    highest = fmax(highest, input[i]);
  }
  scratch[id] = highest;
  for (int width = threads / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < width) {
      scratch[id] = fmax(scratch[id], scratch[id + width]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  highest = scratch[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int i = id; i < columns; i += threads) {
    sum += exp(input[i] - highest);
  }
  scratch[id] = sum;
  for (int width = threads / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < width) {
      scratch[id] += scratch[id + width];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const float scale = 1.0f / scratch[0];
  for (int i = id; i < columns; i += threads) {
    probabilities[row * columns + i] = exp(input[i] - highest) * scale;
  }
}
