// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
__kernel void mix(__global const uint* values, uint n, __global ulong* results)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const uint a = values[3 * i], b = values[3 * i + 1], c = values[3 * i + 2];
    uint x = rotate(a, b & 31u);
    x ^= mul_hi(a, b) + clz(c) * 977u + popcount(a ^ c) * 131u;
    x += bitselect(a, b, c) - hadd(a, b) + rhadd(b, c);
    x ^= add_sat(a, b) ^ sub_sat(b, c);
    const int s = as_int(a), t = as_int(b), u = as_int(c);
    const int y = mad_sat(s >> 12, t >> 10, u) ^ add_sat(s, t) ^ mul_hi(s, u);
    const uint d = (s > t ? a - b : b - a) + mad24(s >> 8 & 0x7fff, t >> 9 & 0x7fff, u);
    ulong wide = upsample(x, d);
    wide ^= rotate((ulong)a << 32 | c, (ulong)(b & 63u));
    wide += mul_hi(upsample(a, b), upsample(b, c)) ^ (ulong)clz(upsample(c >> 3, a));
    results[i] = wide + (ulong)(long)y;
}
