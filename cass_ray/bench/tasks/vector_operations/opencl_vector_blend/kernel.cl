// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// out = clamp(fma(t, b - a, a), low, high), zero where the mask is even. All values are multiples of
// 1/16 below 2^12, so that every float is exact.
__kernel void blend(__global const float4* a, __global const float4* b, __global const int4* mask,
                    float t, float low, float high, uint n, __global float4* out)
{
    const size_t i = get_global_id(0);
    if (i >= n)
        return;
    const float4 mixed = fma((float4)(t), b[i] - a[i], a[i]);
    const float4 bounded = clamp(mixed, low, high);
    out[i] = select((float4)(0.0f), bounded, (mask[i] & 1) == 1);
}

__kernel void swizzle_sum(__global const float4* values, uint n, __global float* sums)
{
    const size_t i = get_global_id(0);
    const size_t stride = get_global_size(0);
    float4 sum = (float4)(0.0f);
    for (size_t k = i; k < n; k += stride)
        sum += values[k].wzyx * (float4)(1.0f, 2.0f, 3.0f, 4.0f);
    sums[i] = dot(sum, (float4)(1.0f));
}
