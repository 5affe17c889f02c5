// Eight-bit floats to and from everything, and the bits of half numbers by the names that CUDA gives.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__device__ void put(long long*& out, long long value) { *out++ = value; }

__global__ void go(long long* out, int n, float nan) {
    __nv_bfloat162 low = __floats2bfloat162_rn(1.f, n), high = __floats2bfloat162_rn(-0.5f, 448.f);
    put(out, __nv_fp8x4_e4m3(low, high).__x);
    put(out, __nv_fp8x4_e5m2(low, high).__x);
    put(out, __nv_fp8x2_e5m2(low).__x);
    put(out, __nv_fp8x4_e4m3(__floats2half2_rn(n, 2.f * n), __floats2half2_rn(n, -4.f * n)).__x);
    put(out, __nv_fp8_e4m3(static_cast<short>(-n)).__x);
    put(out, __nv_fp8_e5m2(100000ull * n).__x);
    __nv_fp8_e5m2 big(10000.f * n), less(-2.6f * n), none(nan);
    put(out, static_cast<int>(big));
    put(out, static_cast<short>(big));
    put(out, static_cast<unsigned short>(less));
    put(out, static_cast<unsigned char>(big));
    put(out, static_cast<signed char>(less));
    put(out, static_cast<unsigned int>(none));
    put(out, static_cast<bool>(less));
    __half_raw one{0x3c00};
    one.x |= 1;
    __half_raw two = __float2half(2.f);
    put(out, one.x);
    put(out, two.x);
    put(out, __half_as_ushort(__half(one)));
    __half2_raw pair = {0x3c00, 0x4200};
    pair.y += 1;
    __half2 both = pair;
    put(out, __half_as_ushort(__high2half(both)));
    __half2_raw copy = __hadd2(both, both);
    put(out, copy.x + copy.y * 0x10000ll);
    put(out, __nv_cvt_halfraw2_to_fp8x2(copy, __NV_SATFINITE, __NV_E5M2));
    put(out, __nv_cvt_fp8x2_to_halfraw2(0x7c01, __NV_E5M2).y);
}

int main() {
    long long h[20], *d;
    cudaMalloc(&d, sizeof h);
    go<<<1, 1>>>(d, 3, __builtin_nanf(""));
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (long long v : h) printf("%llx ", v);
    __half2_raw host{1, 2};
    printf("| %d %d\n", host.x + host.y, static_cast<int>(__nv_fp8_e4m3(17)));
}
