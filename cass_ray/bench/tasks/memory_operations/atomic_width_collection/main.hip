// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkHip(hipError_t code, const char* what, int line) {
    if (code != hipSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(code));
        exit(2);
    }
}
#define CHECK(expr) checkHip((expr), #expr, __LINE__)

typedef unsigned long long u64;
struct Cells {
    int sum, low, high;
    unsigned conjunction, disjunction, parity, wrapped, countdown, exchanged;
    u64 sum64, low64, high64, parity64, product;
    float total, greatest;
    double total64, greatest64;
};
__device__ Cells cells;

__device__ double atomicMaxDouble(double* address, double value)
{
    u64* bits = (u64*)address;
    u64 seen = *bits;
    while (__longlong_as_double((long long)seen) < value) {
        const u64 was = atomicCAS(bits, seen, (u64)__double_as_longlong(value));
        if (was == seen) break;
        seen = was;
    }
    return __longlong_as_double((long long)seen);
}
// Floats of either sign, ordered through their bits.
__device__ void atomicMaxFloat(float* address, float value)
{
    if (value >= 0.0f) atomicMax((int*)address, __float_as_int(value));
    else atomicMin((unsigned*)address, __float_as_uint(value));
}
// Multiplication modulo 2^64 of odd numbers commutes.
__device__ void atomicMultiply(u64* address, u64 factor)
{
    u64 seen = *address, assumed;
    do {
        assumed = seen;
        seen = atomicCAS(address, assumed, assumed * factor);
    } while (seen != assumed);
}

__global__ void everyAtomic(const int* values, int n)
{
    __shared__ unsigned blockParity;
    __shared__ u64 blockHigh;
    if (threadIdx.x == 0) {
        blockParity = 0;
        blockHigh = 0;
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int v = values[i];
        const u64 wide = (u64)(unsigned)v * 0x9e3779b97f4a7c15ull;
        atomicAdd(&cells.sum, v);
        atomicMin(&cells.low, v);
        atomicMax(&cells.high, v);
        atomicAnd(&cells.conjunction, (unsigned)v | 0xfff0u);
        atomicOr(&cells.disjunction, (unsigned)v & 0x00ff00ffu);
        atomicXor(&blockParity, (unsigned)v);
        atomicInc(&cells.wrapped, 1000u);
        atomicDec(&cells.countdown, 777u);
        if (i == n / 2) atomicExch(&cells.exchanged, (unsigned)v);
        atomicAdd(&cells.sum64, wide);
        atomicMin(&cells.low64, wide);
        atomicMax(&blockHigh, wide);
        atomicXor(&cells.parity64, wide);
        atomicMultiply(&cells.product, wide | 1u);
        atomicAdd(&cells.total, (float)(v & 15));
        atomicAdd(&cells.total64, (double)v * 0.5);
        atomicMaxFloat(&cells.greatest, (float)(v >> 12));
        atomicMaxDouble(&cells.greatest64, (double)v * 0.125);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicXor(&cells.parity, blockParity);
        atomicMax(&cells.high64, blockHigh);
    }
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 3000;
    uint32_t s = argc > 2 ? (uint32_t)atoi(argv[2]) : 8u;
    if (n < 1) return 1;
    std::vector<int> values(n);
    for (int& v : values) {
        s = s * 1664525u + 1013904223u;
        v = (int)(s >> 4) - (1 << 27);
    }
    Cells start = {}, e, r;
    start.low = INT32_MAX;
    start.high = INT32_MIN;
    start.conjunction = 0xffffffffu;
    start.low64 = ~0ull;
    start.product = 1;
    start.greatest = -1e30f;
    start.greatest64 = -1e30;
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(cells), &start, sizeof start));
    int* d;
    CHECK(hipMalloc(&d, n * sizeof(int)));
    CHECK(hipMemcpy(d, values.data(), n * sizeof(int), hipMemcpyHostToDevice));
    everyAtomic<<<(n + 127) / 128, 128>>>(d, n);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    CHECK(hipMemcpyFromSymbol(&r, HIP_SYMBOL(cells), sizeof r));
    e = start;
    for (int i = 0; i < n; ++i) {
        const int v = values[i];
        const u64 wide = (u64)(unsigned)v * 0x9e3779b97f4a7c15ull;
        e.sum = (int)((unsigned)e.sum + (unsigned)v);
        if (v < e.low) e.low = v;
        if (v > e.high) e.high = v;
        e.conjunction &= (unsigned)v | 0xfff0u;
        e.disjunction |= (unsigned)v & 0x00ff00ffu;
        e.parity ^= (unsigned)v;
        e.wrapped = e.wrapped >= 1000u ? 0u : e.wrapped + 1u;
        e.countdown = e.countdown == 0u || e.countdown > 777u ? 777u : e.countdown - 1u;
        if (i == n / 2) e.exchanged = (unsigned)v;
        e.sum64 += wide;
        if (wide < e.low64) e.low64 = wide;
        if (wide > e.high64) e.high64 = wide;
        e.parity64 ^= wide;
        e.product *= wide | 1u;
        e.total += (float)(v & 15);
        e.total64 += (double)v * 0.5;
        if ((float)(v >> 12) > e.greatest) e.greatest = (float)(v >> 12);
        if (v * 0.125 > e.greatest64) e.greatest64 = v * 0.125;
    }
    printf("sum %d low %d high %d\n", r.sum, r.low, r.high);
    printf("and %08x or %08x xor %08x inc %u dec %u exch %u\n", r.conjunction, r.disjunction, r.parity, r.wrapped, r.countdown, r.exchanged);
    printf("sum64 %016llx low64 %016llx high64 %016llx\nxor64 %016llx product %016llx\n", r.sum64, r.low64, r.high64, r.parity64, r.product);
    printf("float %.0f %.0f double %.1f %.3f\n", r.total, r.greatest, r.total64, r.greatest64);
    const bool ok = r.sum == e.sum && r.low == e.low && r.high == e.high && r.conjunction == e.conjunction &&
                    r.disjunction == e.disjunction && r.parity == e.parity && r.wrapped == e.wrapped && r.countdown == e.countdown &&
                    r.exchanged == e.exchanged && r.sum64 == e.sum64 && r.low64 == e.low64 && r.high64 == e.high64 &&
                    r.parity64 == e.parity64 && r.product == e.product && r.total == e.total && r.greatest == e.greatest &&
                    r.total64 == e.total64 && r.greatest64 == e.greatest64;
    printf("%s\n", ok ? "ok" : "FAILED");
    CHECK(hipFree(d));
    return ok ? 0 : 1;
}
