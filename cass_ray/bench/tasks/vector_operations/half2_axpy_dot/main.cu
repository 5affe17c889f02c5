// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static void checkCuda(cudaError_t code, const char* what, int line) {
    if (code != cudaSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(code));
        exit(2);
    }
}
#define CK(expr) checkCuda((expr), #expr, __LINE__)

__global__ void axpyHalf(const __half* x, __half* y, __half a, int n)
{
    const int pairs = n / 2;
    const __half2* x2 = reinterpret_cast<const __half2*>(x);
    __half2* y2 = reinterpret_cast<__half2*>(y);
    const __half2 a2 = __half2half2(a);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs)
        y2[i] = __hfma2(a2, x2[i], y2[i]);
    if (i == 0 && (n & 1))
        y[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
}

// Sums x*y in float, counts pairs whose lower half is greater than the upper one.
__global__ void dotHalf(const __half2* x, const __half2* y, int pairs, float* partial, unsigned* greater)
{
    __shared__ float sums[8];
    __shared__ unsigned counts[8];
    float sum = 0.0f;
    unsigned count = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
        const __half2 p = __hmul2(x[i], y[i]);
        const float2 f = __half22float2(p);
        sum += f.x + f.y;
        count += __hgt(__low2half(p), __high2half(p)) ? 1u : 0u;
        if (__hbeq2(p, __lowhigh2highlow(p)))
            count += 1000u;
    }
    for (int d = 16; d > 0; d >>= 1) {
        sum += __shfl_down_sync(0xffffffffu, sum, d, 32);
        count += __shfl_down_sync(0xffffffffu, count, d, 32);
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        counts[threadIdx.x / 32] = count;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < blockDim.x / 32; ++w) {
            sum += sums[w];
            count += counts[w];
        }
        partial[blockIdx.x] = sum;
        greater[blockIdx.x] = count;
    }
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 6001;
    unsigned s = argc > 2 ? (unsigned)atoi(argv[2]) : 1u;
    if (n < 2) return 1;
    std::vector<__half> x(n), y(n), r(n);
    std::vector<int> xi(n), yi(n);
    for (int i = 0; i < n; ++i) {
        s = s * 1103515245u + 12345u;
        xi[i] = (int)(s >> 27) - 16;
        s = s * 1103515245u + 12345u;
        yi[i] = (int)(s >> 26) - 32;
        x[i] = __float2half((float)xi[i]);
        y[i] = __float2half((float)yi[i]);
    }
    const int a = 3;
    __half *dx, *dy;
    const int grid = 5, block = 128, pairs = n / 2;
    float* dsum;
    unsigned* dcount;
    CK(cudaMalloc(&dx, n * sizeof(__half)));
    CK(cudaMalloc(&dy, n * sizeof(__half)));
    CK(cudaMalloc(&dsum, grid * sizeof(float)));
    CK(cudaMalloc(&dcount, grid * sizeof(unsigned)));
    CK(cudaMemcpy(dx, x.data(), n * sizeof(__half), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dy, y.data(), n * sizeof(__half), cudaMemcpyHostToDevice));
    axpyHalf<<<(pairs + block - 1) / block, block>>>(dx, dy, __float2half((float)a), n);
    CK(cudaGetLastError());
    dotHalf<<<grid, block>>>((const __half2*)dx, (const __half2*)dy, pairs, dsum, dcount);
    CK(cudaGetLastError());
    std::vector<float> sums(grid);
    std::vector<unsigned> counts(grid);
    CK(cudaMemcpy(r.data(), dy, n * sizeof(__half), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(sums.data(), dsum, grid * sizeof(float), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(counts.data(), dcount, grid * sizeof(unsigned), cudaMemcpyDeviceToHost));
    long long dot = 0, expected = 0, weighted = 0;
    unsigned greater = 0;
    for (int g = 0; g < grid; ++g) {
        dot += (long long)sums[g];
        greater += counts[g];
    }
    bool ok = true;
    unsigned bits = 2166136261u;
    for (int i = 0; i < n; ++i) {
        const int want = a * xi[i] + yi[i];
        ok = ok && (int)__half2float(r[i]) == want;
        weighted += (long long)want * (i % 17);
        if (i < 2 * pairs) expected += want * xi[i];
        unsigned short raw;
        memcpy(&raw, &r[i], sizeof raw);
        bits = (bits ^ raw) * 16777619u;
    }
    ok = ok && dot == expected;
    printf("n %d tail %d\n", n, n & 1);
    printf("y[0] %d y[n-1] %d\n", (int)__half2float(r[0]), (int)__half2float(r[n - 1]));
    printf("weighted %lld\ndot %lld\n", weighted, dot);
    printf("greater %u\nbits %08x\n", greater, bits);
    puts(ok ? "ok" : "FAILED");
    CK(cudaFree(dx)); CK(cudaFree(dy)); CK(cudaFree(dsum)); CK(cudaFree(dcount));
    return ok ? 0 : 1;
}
