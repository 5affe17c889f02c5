// Largest value and its position in each group; ties go to the lower position.
__kernel void argmax(__global const float *values, __global float *best_value,
                     __global int *best_index, __local float *value_scratch,
                     __local int *index_scratch, const int count) {
  const int local_id = get_local_id(0);
  const int global_id = get_global_id(0);
  value_scratch[local_id] = global_id < count ? values[global_id] : -INFINITY;
  index_scratch[local_id] = global_id;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = get_local_size(0) / 2; width > 0; width >>= 1) {
    if (local_id < width) {
      const float other = value_scratch[local_id + width];
      const int other_index = index_scratch[local_id + width];
      const bool better = other > value_scratch[local_id] ||
                          (other == value_scratch[local_id] && other_index < index_scratch[local_id]);
      if (better) {
        value_scratch[local_id] = other;
        index_scratch[local_id] = other_index;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (local_id == 0) {
    best_value[get_group_id(0)] = value_scratch[0];
    best_index[get_group_id(0)] = index_scratch[0];
  }
}
