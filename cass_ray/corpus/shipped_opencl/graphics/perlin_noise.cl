// Gradient noise in two dimensions, several octaves.
float gradient(const uint hash, const float2 offset) {
  const float u = (hash & 4u) ? offset.y : offset.x;
  const float v = (hash & 4u) ? offset.x : offset.y;
  return ((hash & 1u) ? -u : u) + ((hash & 2u) ? -2.0f * v : 2.0f * v);
}

uint lattice_hash(const int2 cell) {
  uint value = (uint)cell.x * 0x27d4eb2du + (uint)cell.y * 0x165667b1u;
  value ^= value >> 15;
  return value * 0x2c1b3c6du;
}

float noise(const float2 point) {
  const float2 base = floor(point);
  const float2 inside = point - base;
  const int2 cell = convert_int2(base);
  const float2 fade = inside * inside * inside * (inside * (inside * 6.0f - 15.0f) + 10.0f);
  const float a = gradient(lattice_hash(cell), inside);
  const float b = gradient(lattice_hash(cell + (int2)(1, 0)), inside - (float2)(1.0f, 0.0f));
  const float c = gradient(lattice_hash(cell + (int2)(0, 1)), inside - (float2)(0.0f, 1.0f));
  const float d = gradient(lattice_hash(cell + (int2)(1, 1)), inside - (float2)(1.0f, 1.0f));
  return mix(mix(a, b, fade.x), mix(c, d, fade.x), fade.y);
}

__kernel void fractal_noise(__global float *output, const int width, const int height,
                            const int octaves, const float frequency) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) {
    return;
  }
  float2 point = frequency * (float2)((float)x, (float)y);
  float amplitude = 0.5f;
  float sum = 0.0f;
  for (int octave = 0; octave < octaves; ++octave) {
    sum = fma(amplitude, noise(point), sum);
    point *= 2.0f;
    amplitude *= 0.5f;
  }
  output[y * width + x] = sum;
}
