// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkCuda(cudaError_t code, const char* what, int line) {
    if (code != cudaSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(code));
        exit(2);
    }
}
#define gpuErrchk(expr) checkCuda((expr), #expr, __LINE__)

__global__ void __launch_bounds__(512) countBytes(const unsigned char* data, int n, unsigned* bins, int binCount)
{
    extern __shared__ unsigned local[];
    for (int b = threadIdx.x; b < binCount; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i] * binCount / 256], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < binCount; b += blockDim.x)
        if (local[b]) atomicAdd(&bins[b], local[b]);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 100000;
    unsigned s = argc > 2 ? (unsigned)atoi(argv[2]) : 3u;
    if (n < 1) return 1;
    std::vector<unsigned char> data(n);
    for (auto& c : data) {
        s = s * 1664525u + 1013904223u;
        const unsigned a = s >> 25, b = s >> 18 & 127u;
        c = (unsigned char)(a + b);
    }
    const int binCount = 48;
    int minGrid = 0, block = 0;
    gpuErrchk(cudaOccupancyMaxPotentialBlockSize(&minGrid, &block, countBytes, binCount * sizeof(unsigned), 512));
    int perProcessor = 0;
    gpuErrchk(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perProcessor, countBytes, block, binCount * sizeof(unsigned)));
    cudaDeviceProp prop;
    gpuErrchk(cudaGetDeviceProperties(&prop, 0));
    printf("block within bounds: %s\n", block >= 32 && block <= 512 ? "yes" : "no");
    printf("block multiple of warp: %s\n", block % prop.warpSize == 0 ? "yes" : "no");
    printf("at least one block per processor: %s\n", perProcessor >= 1 ? "yes" : "no");
    printf("threads fit: %s\n", perProcessor * block <= prop.maxThreadsPerMultiProcessor ? "yes" : "no");
    printf("grid positive: %s\n", minGrid >= 1 ? "yes" : "no");
    const int needed = (n + block - 1) / block;
    const int grid = needed < minGrid ? needed : minGrid;
    unsigned char* dd;
    unsigned* db;
    gpuErrchk(cudaMalloc(&dd, n));
    gpuErrchk(cudaMalloc(&db, binCount * sizeof(unsigned)));
    gpuErrchk(cudaMemset(db, 0, binCount * sizeof(unsigned)));
    gpuErrchk(cudaMemcpy(dd, data.data(), n, cudaMemcpyHostToDevice));
    countBytes<<<grid, block, binCount * sizeof(unsigned)>>>(dd, n, db, binCount);
    gpuErrchk(cudaGetLastError());
    std::vector<unsigned> bins(binCount), expected(binCount, 0u);
    gpuErrchk(cudaMemcpy(bins.data(), db, binCount * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (unsigned char c : data) expected[c * binCount / 256]++;
    for (int b = 0; b < binCount; ++b) printf("%u%c", bins[b], b % 12 == 11 ? '\n' : ' ');
    const bool ok = bins == expected && perProcessor >= 1;
    printf("%s\n", ok ? "PASS" : "FAIL");
    gpuErrchk(cudaFree(dd));
    gpuErrchk(cudaFree(db));
    return !ok;
}
