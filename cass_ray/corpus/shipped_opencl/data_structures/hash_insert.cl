// Insertion into an open-addressing hash table of 32-bit keys by compare-and-swap.
#define EMPTY 0xffffffffu

uint slot_of(uint key) {
  key = (key ^ (key >> 16)) * 0x45d9f3bu;
  key = (key ^ (key >> 16)) * 0x45d9f3bu;
  return key ^ (key >> 16);
}

__kernel void hash_insert(__global const uint *keys, __global const uint *values,
                          __global volatile uint *table_keys, __global uint *table_values,
                          __global volatile uint *failed, const uint mask, const uint count) {
  const uint i = get_global_id(0);
  if (i >= count) {
    return;
  }
  uint slot = slot_of(keys[i]) & mask;
  for (uint step = 0; step <= mask; ++step) {
    const uint before = atomic_cmpxchg(&table_keys[slot], EMPTY, keys[i]);
    if (before == EMPTY || before == keys[i]) {
      table_values[slot] = values[i];
      return;
    }
    slot = (slot + 1) & mask;
  }
  atomic_inc(failed);
}
