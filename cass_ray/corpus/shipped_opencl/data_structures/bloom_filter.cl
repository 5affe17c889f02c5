// Bloom filter: insertion with atomics, and queries.
uint hash_with(uint key, uint seed) {
  uint value = key * 0x9e3779b1u + seed * 0x85ebca77u;
  value ^= value >> 15;
  value *= 0xc2b2ae3du;
  return value ^ (value >> 13);
}

__kernel void bloom_insert(__global const uint *keys, __global volatile uint *bits,
                           const uint bit_count, const uint hashes, const uint count) {
  const uint i = get_global_id(0);
  for (uint h = 0; i < count && h < hashes; ++h) {
    const uint bit = hash_with(keys[i], h) % bit_count;
    atomic_or(&bits[bit / 32], 1u << (bit % 32));
  }
}

__kernel void bloom_query(__global const uint *keys, __global const uint *bits,
                          __global uchar *maybe, const uint bit_count, const uint hashes,
                          const uint count) {
  const uint i = get_global_id(0);
  if (i >= count) {
    return;
  }
  uchar found = 1;
  for (uint h = 0; h < hashes; ++h) {
    const uint bit = hash_with(keys[i], h) % bit_count;
    found &= (bits[bit / 32] >> (bit % 32)) & 1u;
  }
  maybe[i] = found;
}
