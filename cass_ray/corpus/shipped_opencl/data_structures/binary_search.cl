// Lower bound of many keys in a sorted array.
__kernel void lower_bound(__global const float *sorted, __global const float *keys,
                          __global uint *positions, const uint size, const uint count) {
  const uint i = get_global_id(0);
  if (i >= count) {
    return;
  }
  const float key = keys[i];
  uint first = 0;
  uint length = size;
  while (length > 0) {
    const uint half_length = length / 2;
    const uint middle = first + half_length;
    if (sorted[middle] < key) {
      first = middle + 1;
      length -= half_length + 1;
    } else {
      length = half_length;
    }
  }
  positions[i] = first;
}
