// Sum of a vector: each group leaves one partial sum, combined by a second launch.
__kernel void reduce_sum(__global const float *values, __global float *partial,
                         __local float *scratch, const int count) {
  const int local_id = get_local_id(0);
  const int stride = get_global_size(0);
  float sum = 0.0f;
  for (int i = get_global_id(0); i < count; i += stride) {
    sum += values[i];
  }
  scratch[local_id] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
    if (local_id < half_size) {
      scratch[local_id] += scratch[local_id + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (local_id == 0) {
    partial[get_group_id(0)] = scratch[0];
  }
}
