// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define TILE 64

// Positions and masses are four halves a body. Every step rounds the position to half again.
__kernel __attribute__((reqd_work_group_size(TILE, 1, 1)))
void step(__global const half* bodies, __global half* moved, __global float4* velocity, uint n, float dt)
{
    __local float4 tile[TILE];
    const uint i = get_global_id(0), lane = get_local_id(0);
    const float4 me = i < n ? vload_half4(i, bodies) : (float4)(0.0f);
    float3 pull = (float3)(0.0f);
    for (uint start = 0; start < n; start += TILE) {
        tile[lane] = start + lane < n ? vload_half4(start + lane, bodies) : (float4)(0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; ++k) {
            const float3 away = tile[k].xyz - me.xyz;
            const float squared = fma(away.x, away.x, fma(away.y, away.y, fma(away.z, away.z, 0.5f)));
            const float inverse = 1.0f / sqrt(squared);
            const float weight = tile[k].w * inverse * inverse * inverse;
            pull = fma(away, (float3)(weight), pull);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i >= n)
        return;
    float4 v = velocity[i];
    v.xyz = fma(pull, (float3)(dt), v.xyz);
    velocity[i] = v;
    vstore_half4_rte((float4)(fma(v.xyz, (float3)(dt), me.xyz), me.w), i, moved);
}

__kernel void kinetic(__global const float4* velocity, __global const half* bodies, uint n,
                      __global double* energy)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const double3 v = convert_double3(velocity[i].xyz);
    energy[i] = 0.5 * (double)vload_half(4 * i + 3, bodies) * fma(v.x, v.x, fma(v.y, v.y, v.z * v.z));
}
