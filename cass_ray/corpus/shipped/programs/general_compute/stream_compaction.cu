// SPDX-License-Identifier: MIT
// Order-preserving stream compaction: keeps the values divisible by three. Warps count their
// survivors with a ballot, a single block scans the counts, and a second ballot gives each
// survivor its slot.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CU(x)                                                                         \
    do {                                                                              \
        cudaError_t r = (x);                                                          \
        if (r != cudaSuccess) {                                                       \
            fprintf(stderr, "CUDA error %d (%s) on line %d\n", (int)r, cudaGetErrorString(r), __LINE__); \
            exit(2);                                                                  \
        }                                                                             \
    } while (0)

__device__ bool keep(int value) { return value % 3 == 0; }

__global__ void countSurvivors(const int* data, int n, int* warpCounts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned votes = __ballot_sync(0xffffffffu, i < n && keep(data[i]));
    if ((threadIdx.x & 31) == 0)
        warpCounts[i / 32] = __popc(votes);
}

// Inclusive Hillis-Steele scan of chunks of blockDim.x counts with a running carry.
__global__ void scanCounts(int* counts, int n)
{
    __shared__ int buffer[2][256];
    __shared__ int carry;
    const int t = threadIdx.x;
    if (t == 0)
        carry = 0;
    __syncthreads();
    for (int base = 0; base < n; base += 256) {
        const int original = base + t < n ? counts[base + t] : 0;
        int which = 0;
        buffer[0][t] = original;
        __syncthreads();
        for (int d = 1; d < 256; d <<= 1) {
            int v = buffer[which][t];
            if (t >= d)
                v += buffer[which][t - d];
            buffer[which ^ 1][t] = v;
            which ^= 1;
            __syncthreads();
        }
        const int inclusive = buffer[which][t];
        const int before = carry;
        if (base + t < n)
            counts[base + t] = before + inclusive - original;
        __syncthreads();
        if (t == 255)
            carry = before + inclusive;
        __syncthreads();
    }
    if (t == 0)
        counts[n] = carry;
}

__global__ void scatterSurvivors(const int* data, int n, const int* warpOffsets, int* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool mine = i < n && keep(data[i]);
    const unsigned votes = __ballot_sync(0xffffffffu, mine);
    const unsigned lower = (1u << (threadIdx.x & 31)) - 1u;
    if (mine)
        out[warpOffsets[i / 32] + __popc(votes & lower)] = data[i];
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 40000;
    unsigned s = argc > 2 ? (unsigned)atoi(argv[2]) : 99u;
    if (n < 1)
        return 2;
    std::vector<int> values(n), expected;
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        values[i] = (int)(s >> 9) - 4000000;
        if (values[i] % 3 == 0)
            expected.push_back(values[i]);
    }

    const int block = 128, grid = (n + block - 1) / block, warps = grid * block / 32;
    int *data, *offsets, *out;
    CU(cudaMalloc(&data, n * sizeof(int)));
    CU(cudaMalloc(&out, n * sizeof(int)));
    CU(cudaMalloc(&offsets, (warps + 1) * sizeof(int)));
    CU(cudaMemcpy(data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    countSurvivors<<<grid, block>>>(data, n, offsets);
    scanCounts<<<1, 256>>>(offsets, warps);
    scatterSurvivors<<<grid, block>>>(data, n, offsets, out);
    CU(cudaGetLastError());

    int kept = 0;
    CU(cudaMemcpy(&kept, offsets + warps, sizeof kept, cudaMemcpyDeviceToHost));
    std::vector<int> result(kept > 0 && kept <= n ? kept : 0);
    if (!result.empty())
        CU(cudaMemcpy(result.data(), out, result.size() * sizeof(int), cudaMemcpyDeviceToHost));

    long long sum = 0;
    for (size_t i = 0; i < result.size(); ++i)
        sum += (long long)result[i] * (long long)(i % 7 + 1);
    printf("kept %d of %d\n", kept, n);
    printf("weighted sum %lld\n", sum);
    const bool ok = result == expected;
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CU(cudaFree(data));
    CU(cudaFree(out));
    CU(cudaFree(offsets));
    return ok ? 0 : 1;
}
