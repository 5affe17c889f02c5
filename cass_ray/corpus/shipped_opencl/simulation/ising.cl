// Metropolis update of one colour of an Ising chequerboard with a counter-based generator.
uint mixed(uint value) {
  value ^= value >> 16;
  value *= 0x7feb352du;
  value ^= value >> 15;
  value *= 0x846ca68bu;
  return value ^ (value >> 16);
}

__kernel void ising_update(__global char *spins, const int width, const int height,
                           const float inverse_temperature, const int colour, const uint sweep) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height || ((x + y) & 1) != colour) {
    return;
  }
  const int here = y * width + x;
  const int neighbours = spins[y * width + (x + 1) % width] +
                         spins[y * width + (x + width - 1) % width] +
                         spins[((y + 1) % height) * width + x] +
                         spins[((y + height - 1) % height) * width + x];
  const float energy = 2.0f * spins[here] * neighbours;
  const float chance = (float)mixed(mixed(sweep) + (uint)here) * 0x1.0p-32f;
  if (energy <= 0.0f || chance < exp(-inverse_temperature * energy)) {
    spins[here] = -spins[here];
  }
}
