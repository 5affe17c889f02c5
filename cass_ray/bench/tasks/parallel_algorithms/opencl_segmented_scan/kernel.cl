// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#define WIDTH 256

// Each work-group scans WIDTH values (Hillis and Steele, two buffers) and stores its sum.
__kernel __attribute__((reqd_work_group_size(WIDTH, 1, 1)))
void scan_groups(__global const uint* values, uint n, __global uint* scanned, __global uint* sums)
{
    __local uint buffer[2][WIDTH];
    const uint lane = get_local_id(0);
    const uint i = get_global_id(0);
    uint now = 0;
    buffer[0][lane] = i < n ? values[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < WIDTH; distance <<= 1) {
        const uint own = buffer[now][lane];
        buffer[1 - now][lane] = lane >= distance ? own + buffer[now][lane - distance] : own;
        now = 1 - now;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n)
        scanned[i] = buffer[now][lane];
    if (lane == WIDTH - 1)
        sums[get_group_id(0)] = buffer[now][lane];
}

// One work-item: there are few groups.
__kernel void scan_sums(__global uint* sums, uint groups)
{
    uint before = 0;
    for (uint g = 0; g < groups; ++g) {
        const uint own = sums[g];
        sums[g] = before;
        before += own;
    }
}

__kernel void add_before(__global uint* scanned, __global const uint* sums, uint n)
{
    const uint i = get_global_id(0);
    if (i < n)
        scanned[i] += sums[get_group_id(0)];
}
