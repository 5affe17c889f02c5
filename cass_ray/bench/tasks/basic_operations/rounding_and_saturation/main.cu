// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "CUDA failure %d at line %d: %s\n", (int)e_, __LINE__, cudaGetErrorString(e_)); \
    exit(3); } } while (0)

__device__ __forceinline__ int roundPtx(float v)
{
    int r;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(v));
    return r;
}
__device__ __forceinline__ uint32_t saturateByte(float v)
{
    uint32_t r;
    asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(r) : "f"(v));
    return r;
}
__device__ __forceinline__ float clampUnit(float v)
{
    float r;
    asm("add.sat.f32 %0, %1, 0f00000000;" : "=f"(r) : "f"(v));
    return r;
}

#define COLUMNS 14
__global__ void convert(const float* in, int n, int* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = in[i];
    const double d = (double)v * 1.25;
    int* o = out + i * COLUMNS;
    o[0] = __float2int_rn(v);
    o[1] = __float2int_rz(v);
    o[2] = __float2int_ru(v);
    o[3] = __float2int_rd(v);
    o[4] = __double2int_rn(d);
    o[5] = (int)__double2ll_rd(d);
    o[6] = __float_as_int(v);
    o[7] = (int)(__double_as_longlong(d) >> 20);
    o[8] = __float_as_int(__int2float_rn(__float_as_int(v)));
    o[9] = (int)__half_as_ushort(__float2half_rn(v));
    o[10] = __float_as_int(__half2float(__float2half(v * 0.5f)));
    o[11] = roundPtx(v * 2.0f);
    o[12] = (int)saturateByte(v);
    o[13] = __float_as_int(clampUnit(v * 0.0078125f));
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 2000;
    uint32_t s = argc > 2 ? (uint32_t)atoi(argv[2]) : 4u;
    if (n < 1) return 1;
    std::vector<float> in(n);
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        const int q = (int)(s >> 18) - 8192;                    // quarters: ties are frequent
        in[i] = i % 3 == 0 ? (float)q * 0.25f : (float)q * 0.5f + (float)(i % 64) / 64.0f;
    }
    float* di;
    int* dout;
    CK(cudaMalloc(&di, n * sizeof(float)));
    CK(cudaMalloc(&dout, n * COLUMNS * sizeof(int)));
    CK(cudaMemcpy(di, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    convert<<<(n + 255) / 256, 256>>>(di, n, dout);
    CK(cudaGetLastError());
    std::vector<int> out((size_t)n * COLUMNS);
    CK(cudaMemcpy(out.data(), dout, out.size() * sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        const int* o = &out[(size_t)i * COLUMNS];
        const float v = in[i];
        wrong += o[0] != (int)nearbyintf(v);
        wrong += o[1] != (int)truncf(v);
        wrong += o[2] != (int)ceilf(v);
        wrong += o[3] != (int)floorf(v);
        wrong += o[4] != (int)nearbyint((double)v * 1.25);
        wrong += o[5] != (int)floor((double)v * 1.25);
        const float doubled = nearbyintf(v * 2.0f), byte = nearbyintf(v);
        wrong += o[11] != (int)doubled;
        wrong += o[12] != (byte < 0 ? 0 : byte > 255 ? 255 : (int)byte);
    }
    for (int c = 0; c < COLUMNS; ++c) {
        uint32_t fold = 0;
        for (int i = 0; i < n; ++i) fold = fold * 16777619u ^ (uint32_t)out[(size_t)i * COLUMNS + c];
        printf("column %2d: first %d fold %08x\n", c, out[c], fold);
    }
    printf("wrong %d\n", wrong);
    CK(cudaFree(di));
    CK(cudaFree(dout));
    return wrong ? 1 : 0;
}
