// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#define BINS 64

__kernel void histogram(__global const uint* values, uint n, volatile __global uint* bins,
                        volatile __global int* extremes)
{
    __local uint own[BINS];
    __local int low, high;
    const uint lane = get_local_id(0);
    for (uint b = lane; b < BINS; b += get_local_size(0))
        own[b] = 0;
    if (lane == 0) {
        low = INT_MAX;
        high = INT_MIN;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        const uint value = values[i];
        atomic_inc(&own[rotate(value * 2654435761u, 6u) % BINS]);
        atomic_min(&low, as_int(value));
        atomic_max(&high, as_int(value));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = lane; b < BINS; b += get_local_size(0))
        if (own[b] != 0)
            atomic_add(&bins[b], own[b]);
    if (lane == 0) {
        atomic_min(&extremes[0], low);
        atomic_max(&extremes[1], high);
    }
}
