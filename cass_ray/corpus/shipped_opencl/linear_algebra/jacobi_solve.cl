// One Jacobi sweep for a dense system, with the largest change of a group as its convergence test.
__kernel void jacobi_sweep(__global const float *matrix, __global const float *rhs,
                           __global const float *current, __global float *next,
                           __global float *change, __local float *scratch, const int size) {
  const int row = get_global_id(0);
  const int id = get_local_id(0);
  float difference = 0.0f;
  if (row < size) {
    float sum = rhs[row];
    for (int column = 0; column < size; ++column) {
      if (column != row) {
        sum = fma(-matrix[row * size + column], current[column], sum);
      }
    }
    const float updated = sum / matrix[row * size + row];
    difference = fabs(updated - current[row]);
    next[row] = updated;
  }
  scratch[id] = difference;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = get_local_size(0) >> 1; width; width >>= 1) {
    if (id < width) {
      scratch[id] = fmax(scratch[id], scratch[id + width]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (id == 0) {
    change[get_group_id(0)] = scratch[0];
  }
}
