// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define gpuErrchk(call)                                                                  \
    do {                                                                             \
        hipError_t status = (call);                                                 \
        if (status != hipSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d: HIP error: %s\n", __FILE__, __LINE__,      \
                         hipGetErrorString(status));                                \
            std::exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

__device__ __forceinline__ uint16_t toNearest(float v)
{
    // No input is a NaN: round to nearest even on the bits.
    const uint32_t u = __float_as_uint(v);
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

// Lower half: low rounded to nearest even; upper half: high rounded the same way.
__device__ __forceinline__ uint32_t packPair(float high, float low)
{
    return (uint32_t)toNearest(high) << 16 | toNearest(low);
}

__device__ __forceinline__ uint16_t towardsZero(float v)
{
    return (uint16_t)(__float_as_uint(v) >> 16);
}

__global__ void convert(const float* in, int n, uint16_t* nearest, uint16_t* truncated, uint32_t* packed, float* back)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float v = in[i];
    nearest[i] = toNearest(v);
    truncated[i] = towardsZero(v);
    packed[i] = packPair(in[n - 1 - i], v);
    const __hip_bfloat16 b = __float2bfloat16(v);
    // A power of two scales without rounding; the sum of two such numbers is rounded once more.
    back[i] = __bfloat162float(b) * 4.0f + __bfloat162float(__float2bfloat16(in[n - 1 - i]));
}

static uint16_t hostNearest(float v)
{
    uint32_t u;
    memcpy(&u, &v, 4);
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 3333;
    uint32_t s = argc > 2 ? (uint32_t)strtoul(argv[2], nullptr, 10) : 5u;
    if (n < 1) return 1;
    std::vector<float> in(n);
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        // exponents 2^-20 .. 2^11, some values exactly half way between two bfloat16 numbers
        uint32_t bits = (s & 0x80000000u) | ((107u + (s >> 4 & 31u)) << 23) | (s >> 7 & 0x7fffffu);
        if (i % 5 == 0) bits = (bits & 0xffff0000u) | 0x8000u;
        memcpy(&in[i], &bits, 4);
    }
    float *din, *dback;
    uint16_t *dn, *dt;
    uint32_t* dp;
    gpuErrchk(hipMalloc(&din, n * 4));
    gpuErrchk(hipMalloc(&dback, n * 4));
    gpuErrchk(hipMalloc(&dn, n * 2));
    gpuErrchk(hipMalloc(&dt, n * 2));
    gpuErrchk(hipMalloc(&dp, n * 4));
    gpuErrchk(hipMemcpy(din, in.data(), n * 4, hipMemcpyHostToDevice));
    convert<<<(n + 191) / 192, 192>>>(din, n, dn, dt, dp, dback);
    gpuErrchk(hipGetLastError());
    gpuErrchk(hipDeviceSynchronize());
    std::vector<uint16_t> nearest(n), truncated(n);
    std::vector<uint32_t> packed(n);
    std::vector<float> back(n);
    gpuErrchk(hipMemcpy(nearest.data(), dn, n * 2, hipMemcpyDeviceToHost));
    gpuErrchk(hipMemcpy(truncated.data(), dt, n * 2, hipMemcpyDeviceToHost));
    gpuErrchk(hipMemcpy(packed.data(), dp, n * 4, hipMemcpyDeviceToHost));
    gpuErrchk(hipMemcpy(back.data(), dback, n * 4, hipMemcpyDeviceToHost));
    int up = 0, wrong = 0;
    uint32_t hn = 1, ht = 1, hp = 1, hb = 1;
    for (int i = 0; i < n; ++i) {
        uint32_t b;
        memcpy(&b, &back[i], 4);
        up += nearest[i] != truncated[i];
        hn = hn * 31u + nearest[i];
        ht = ht * 31u + truncated[i];
        hp = hp * 31u + packed[i];
        hb = hb * 31u + b;
        wrong += nearest[i] != hostNearest(in[i]);
        wrong += packed[i] != ((uint32_t)hostNearest(in[n - 1 - i]) << 16 | hostNearest(in[i]));
    }
    printf("values %d rounded up %d\n", n, up);
    for (int i = 0; i < n && i < 6; ++i)
        printf("%d: %04x %04x %08x\n", i, nearest[i], truncated[i], packed[i]);
    printf("hashes %08x %08x %08x %08x\n", hn, ht, hp, hb);
    printf("%s\n", wrong ? "FAILED" : "ok");
    hipFree(din); hipFree(dback); hipFree(dn); hipFree(dt); hipFree(dp);
    return wrong != 0;
}
