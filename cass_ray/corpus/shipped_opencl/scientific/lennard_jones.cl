// Forces and energy of a Lennard-Jones fluid in a periodic box, with a cut-off.
__kernel void lennard_jones(__global const float4 *positions, __global float4 *forces,
                            const float box, const float cutoff, const int atoms) {
  const int atom = get_global_id(0);
  if (atom >= atoms) {
    return;
  }
  const float3 here = positions[atom].xyz;
  float3 force = (float3)(0.0f);
  float energy = 0.0f;
  for (int other = 0; other < atoms; ++other) {
    if (other == atom) {
      continue;
    }
    float3 apart = here - positions[other].xyz;
    apart -= box * rint(apart / box);
    const float squared = dot(apart, apart);
    if (squared < cutoff * cutoff) {
      const float inverse = native_recip(squared);
      const float sixth = inverse * inverse * inverse;
      force += apart * (48.0f * inverse * sixth * (sixth - 0.5f));
      energy += 2.0f * sixth * (sixth - 1.0f);
    }
  }
  forces[atom] = (float4)(force, energy);
}
