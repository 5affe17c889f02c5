// Gravitational acceleration of all bodies, a tile of bodies at a time; leapfrog kick and drift.
#define TILE 256

__kernel __attribute__((reqd_work_group_size(TILE, 1, 1))) void
nbody(__global const float4 *positions, __global float4 *velocities, __global float4 *moved,
      const float step, const float softening, const int bodies) {
  __local float4 tile[TILE];
  const int body = get_global_id(0);
  const float4 position = body < bodies ? positions[body] : (float4)(0.0f);
  float3 acceleration = (float3)(0.0f);
  for (int start = 0; start < bodies; start += TILE) {
    const int other = start + get_local_id(0);
    tile[get_local_id(0)] = other < bodies ? positions[other] : (float4)(0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) {
      const float3 away = tile[i].xyz - position.xyz;
      const float inverse = rsqrt(dot(away, away) + softening);
      acceleration += away * (tile[i].w * inverse * inverse * inverse);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (body < bodies) {
    float4 velocity = velocities[body];
    velocity.xyz += step * acceleration;
    velocities[body] = velocity;
    moved[body] = (float4)(position.xyz + step * velocity.xyz, position.w);
  }
}
