// Velocity and position update of a particle swarm on the Rastrigin function.
uint next_random(uint state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^ (state << 5);
}

float rastrigin(__global const float *x, const int dimensions, const int stride) {
  float sum = 10.0f * dimensions;
  for (int d = 0; d < dimensions; ++d) {
    const float value = x[d * stride];
    sum += value * value - 10.0f * cospi(2.0f * value);
  }
  return sum;
}

__kernel void swarm_step(__global float *position, __global float *velocity,
                         __global float *best_position, __global float *best_value,
                         __constant float *leader, __global uint *random, const int particles,
                         const int dimensions, const float inertia, const float pull) {
  const int i = get_global_id(0);
  if (i >= particles) {
    return;
  }
  uint state = random[i];
  for (int d = 0; d < dimensions; ++d) {
    const int slot = d * particles + i;
    state = next_random(state);
    const float own = (state >> 8) * 0x1.0p-24f;
    state = next_random(state);
    const float shared = (state >> 8) * 0x1.0p-24f;
    float v = inertia * velocity[slot];
    v += pull * own * (best_position[slot] - position[slot]);
    v += pull * shared * (leader[d] - position[slot]);
    velocity[slot] = clamp(v, -1.0f, 1.0f);
    position[slot] += velocity[slot];
  }
  random[i] = state;
  const float value = rastrigin(position + i, dimensions, particles);
  if (value < best_value[i]) {
    best_value[i] = value;
    for (int d = 0; d < dimensions; ++d) {
      best_position[d * particles + i] = position[d * particles + i];
    }
  }
}
