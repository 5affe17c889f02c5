// One step of a bitonic sort of keys with their values.
__kernel void bitonic_step(__global uint *keys, __global uint *values, const uint distance,
                           const uint block, const uint ascending) {
  const uint pair = get_global_id(0);
  const uint low = (pair / distance) * 2 * distance + pair % distance;
  const uint high = low + distance;
  const uint key_low = keys[low];
  const uint key_high = keys[high];
  const bool up = ((low / block) % 2 == 0) == (ascending != 0);
  if ((key_low > key_high) == up) {
    keys[low] = key_high;
    keys[high] = key_low;
    const uint value = values[low];
    values[low] = values[high];
    values[high] = value;
  }
}
