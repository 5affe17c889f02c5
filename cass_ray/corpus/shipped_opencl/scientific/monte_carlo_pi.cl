// Points in the quarter circle by a stateless generator (Philox with two words, ten rounds).
uint2 philox(uint2 counter, uint key) {
  for (int round = 0; round < 10; ++round) {
    const uint high = mul_hi(0xd256d193u, counter.x);
    const uint low = 0xd256d193u * counter.x;
    counter = (uint2)(high ^ key ^ counter.y, low);
    key += 0x9e3779b9u;
  }
  return counter;
}

__kernel void count_inside(__global volatile uint *inside, const uint samples, const uint seed) {
  const uint item = get_global_id(0);
  uint hits = 0;
  for (uint i = 0; i < samples; ++i) {
    const uint2 bits = philox((uint2)(i, item), seed);
    const float2 point = convert_float2(bits) * 0x1.0p-32f;
    hits += dot(point, point) < 1.0f ? 1u : 0u;
  }
  atomic_add(inside, hits);
}
