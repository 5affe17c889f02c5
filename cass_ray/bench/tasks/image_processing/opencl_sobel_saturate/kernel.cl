// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
static uchar4 pixel(__global const uchar4* image, int2 at, int2 size)
{
    at = clamp(at, (int2)(0), size - 1);
    return image[mad24(at.y, size.x, at.x)];
}

// |gx| + |gy| of every channel, halved and saturated to a byte; alpha is kept.
__kernel void sobel(__global const uchar4* image, int2 size, __global uchar4* edges)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (at.x >= size.x || at.y >= size.y)
        return;
    int4 p[3][3];
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x)
            p[y][x] = convert_int4(pixel(image, at + (int2)(x - 1, y - 1), size));
    const int4 gx = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
    const int4 gy = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
    const uint4 strength = (abs(gx) + abs(gy)) >> 1;
    uchar4 result = convert_uchar4_sat(strength);
    result.w = image[mad24(at.y, size.x, at.x)].w;
    edges[mad24(at.y, size.x, at.x)] = result;
}
