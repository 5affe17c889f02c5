// Collision step of a two-dimensional lattice Boltzmann fluid (nine velocities, one relaxation).
__constant int velocity_x[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant int velocity_y[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant float weight[9] = {4.0f / 9.0f,  1.0f / 9.0f,  1.0f / 9.0f,  1.0f / 9.0f, 1.0f / 9.0f,
                              1.0f / 36.0f, 1.0f / 36.0f, 1.0f / 36.0f, 1.0f / 36.0f};

__kernel void collide(__global float *populations, __global const uchar *solid,
                      const float relaxation, const int cells) {
  const int cell = get_global_id(0);
  if (cell >= cells || solid[cell]) {
    return;
  }
  float f[9];
  float density = 0.0f;
  float2 momentum = (float2)(0.0f);
  for (int i = 0; i < 9; ++i) {
    f[i] = populations[i * cells + cell];
    density += f[i];
    momentum += f[i] * (float2)((float)velocity_x[i], (float)velocity_y[i]);
  }
  const float2 u = momentum / density;
  const float speed = dot(u, u);
  for (int i = 0; i < 9; ++i) {
    const float along = velocity_x[i] * u.x + velocity_y[i] * u.y;
    const float equilibrium =
        weight[i] * density * (1.0f + 3.0f * along + 4.5f * along * along - 1.5f * speed);
    populations[i * cells + cell] = mix(f[i], equilibrium, relaxation);
  }
}
