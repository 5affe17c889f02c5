// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(call)                                                                  \
    do {                                                                             \
        hipError_t status = (call);                                                 \
        if (status != hipSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d: HIP error: %s\n", __FILE__, __LINE__,      \
                         hipGetErrorString(status));                                \
            std::exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

const int kSteps = 28;
__constant__ int32_t angles[kSteps];  // atan(2^-k) in 2.30

struct Polar {
    int32_t cosine, sine, angle;
    uint32_t root;
};

__device__ void rotate(int32_t angle, int32_t& x, int32_t& y)
{
    x = 652032874;  // the gain of the steps, 0.60725... in 2.30
    y = 0;
#pragma unroll 4
    for (int k = 0; k < kSteps; ++k) {
        const int32_t dx = x >> k, dy = y >> k;
        if (angle >= 0) {
            x -= dy;
            y += dx;
            angle -= angles[k];
        } else {
            x += dy;
            y -= dx;
            angle += angles[k];
        }
    }
}

__device__ int32_t angleOf(int32_t x, int32_t y)
{
    int32_t angle = 0;
    for (int k = 0; k < kSteps; ++k) {
        const int32_t dx = x >> k, dy = y >> k;
        if (y >= 0) {
            x += dy;
            y -= dx;
            angle += angles[k];
        } else {
            x -= dy;
            y += dx;
            angle -= angles[k];
        }
    }
    return angle;
}

// floor(sqrt(v * 2^16)) for v in 16.16: a guess from the leading zeros, Newton, then a correction.
__device__ uint32_t squareRoot(uint32_t v)
{
    const uint64_t target = (uint64_t)v << 16;
    if (target == 0)
        return 0;
    uint64_t r = 1ull << ((65 - __clzll((long long)target)) / 2);
    for (int k = 0; k < 6; ++k)
        r = (r + target / r) >> 1;
    while (r * r > target) --r;
    while ((r + 1) * (r + 1) <= target) ++r;
    return (uint32_t)r;
}

__global__ void polar(const int32_t* in, int n, Polar* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int32_t angle = in[i];
    Polar p;
    rotate(angle, p.cosine, p.sine);
    p.angle = angleOf(p.cosine >> 1, p.sine >> 1);
    p.root = squareRoot((uint32_t)__mulhi(angle, angle) + (uint32_t)i);
    out[i] = p;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 2000;
    uint32_t s = argc > 2 ? (uint32_t)atoi(argv[2]) : 5u;
    if (n < 1) return 1;
    // atan(2^-k) as integers, so that nothing depends on the host's library.
    static const int32_t table[kSteps] = { 843314857, 497837829, 263043837, 133525159, 67021687, 33543516, 16775851, 8388437,
        4194283, 2097149, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8 };
    CK(hipMemcpyToSymbol(HIP_SYMBOL(angles), table, sizeof table));
    std::vector<int32_t> in(n);
    for (int32_t& v : in) {
        s = s * 1664525u + 1013904223u;
        v = (int32_t)((uint64_t)s * 3200000000ull >> 32) - 1600000000;  // -1.49 .. 1.49 radians
    }
    int32_t* di;
    Polar* dp;
    CK(hipMalloc(&di, n * sizeof(int32_t)));
    CK(hipMalloc(&dp, n * sizeof(Polar)));
    CK(hipMemcpy(di, in.data(), n * sizeof(int32_t), hipMemcpyHostToDevice));
    polar<<<(n + 127) / 128, 128>>>(di, n, dp);
    CK(hipGetLastError());
    std::vector<Polar> out(n);
    CK(hipMemcpy(out.data(), dp, n * sizeof(Polar), hipMemcpyDeviceToHost));
    uint64_t folds[4] = {0, 0, 0, 0};
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        const Polar& p = out[i];
        folds[0] = folds[0] * 31 + (uint32_t)p.cosine;
        folds[1] = folds[1] * 31 + (uint32_t)p.sine;
        folds[2] = folds[2] * 31 + (uint32_t)p.angle;
        folds[3] = folds[3] * 31 + p.root;
        const double unit = 1073741824.0, a = in[i] / unit;
        wrong += fabs(p.cosine / unit - cos(a)) > 1e-6 || fabs(p.sine / unit - sin(a)) > 1e-6;
        wrong += fabs(p.angle / unit - a) > 1e-6;
        const uint64_t v = ((uint64_t)(uint32_t)(((int64_t)in[i] * in[i]) >> 32) + (uint32_t)i) << 16, r = p.root;
        wrong += r * r > v || (r + 1) * (r + 1) <= v;
    }
    for (int i = 0; i < n && i < 5; ++i)
        printf("%11d: %11d %11d %11d %10u\n", in[i], out[i].cosine, out[i].sine, out[i].angle, out[i].root);
    for (int k = 0; k < 4; ++k) printf("fold %016llx\n", (unsigned long long)folds[k]);
    printf("wrong %d\n", wrong);
    CK(hipFree(di));
    CK(hipFree(dp));
    return wrong ? 1 : 0;
}
