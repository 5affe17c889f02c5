// SPDX-License-Identifier: MIT
// Box filter of any radius through a summed-area table: one block scans each row, a second
// kernel accumulates the columns, and every output pixel needs four table reads.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_REQUIRE(call)                                                          \
    do {                                                                            \
        cudaError_t err = (call);                                                   \
        if (err != cudaSuccess) {                                                   \
            fprintf(stderr, "box filter: %s (%s)\n", cudaGetErrorString(err), #call); \
            exit(2);                                                                \
        }                                                                           \
    } while (0)

constexpr int kScanThreads = 128;

// The table has one extra row and column of zeros in front.
__global__ void scanRows(const unsigned char* image, unsigned* table, int w)
{
    __shared__ unsigned warpSum[kScanThreads / 32];
    const unsigned char* in = image + (size_t)blockIdx.x * w;
    unsigned* out = table + (size_t)(blockIdx.x + 1) * (w + 1);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned carry = 0;
    if (threadIdx.x == 0)
        out[0] = 0;
    for (int base = 0; base < w; base += kScanThreads) {
        const int x = base + threadIdx.x;
        unsigned v = x < w ? in[x] : 0u;
        for (int d = 1; d < 32; d *= 2) {
            const unsigned lower = __shfl_up_sync(0xffffffffu, v, d);
            v += lane >= d ? lower : 0u;
        }
        if (lane == 31)
            warpSum[warp] = v;
        __syncthreads();
        unsigned before = carry;
        for (int i = 0; i < kScanThreads / 32; ++i) {
            before += i < warp ? warpSum[i] : 0u;
            carry += warpSum[i];
        }
        if (x < w)
            out[x + 1] = v + before;
        __syncthreads();
    }
}

__global__ void scanColumns(unsigned* table, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x > w)
        return;
    unsigned sum = 0;
    table[x] = 0;
    for (int y = 1; y <= h; ++y) {
        sum += table[(size_t)y * (w + 1) + x];
        table[(size_t)y * (w + 1) + x] = sum;
    }
}

__global__ void boxMean(const unsigned* table, unsigned char* out, int w, int h, int radius)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const int x0 = max(x - radius, 0), x1 = min(x + radius + 1, w);
    const int y0 = max(y - radius, 0), y1 = min(y + radius + 1, h);
    const size_t pitch = w + 1;
    const unsigned sum = table[y1 * pitch + x1] - table[y0 * pitch + x1] - table[y1 * pitch + x0] + table[y0 * pitch + x0];
    const unsigned area = (unsigned)((x1 - x0) * (y1 - y0));
    out[(size_t)y * w + x] = (unsigned char)((sum + area / 2) / area);
}

int main(int argc, char** argv)
{
    const int w = argc > 1 ? atoi(argv[1]) : 170;
    const int h = argc > 2 ? atoi(argv[2]) : 100;
    const int radius = argc > 3 ? atoi(argv[3]) : 5;
    unsigned seed = argc > 4 ? (unsigned)atoi(argv[4]) : 23u;
    if (w < 1 || h < 1 || radius < 0)
        return 2;
    std::vector<unsigned char> image((size_t)w * h), filtered(image.size());
    for (size_t i = 0; i < image.size(); ++i) {
        seed = seed * 1664525u + 1013904223u;
        image[i] = (unsigned char)(seed >> 24);
    }
    unsigned char *dImage, *dOut;
    unsigned* table;
    CUDA_REQUIRE(cudaMalloc(&dImage, image.size()));
    CUDA_REQUIRE(cudaMalloc(&dOut, image.size()));
    CUDA_REQUIRE(cudaMalloc(&table, (size_t)(w + 1) * (h + 1) * sizeof(unsigned)));
    CUDA_REQUIRE(cudaMemcpy(dImage, image.data(), image.size(), cudaMemcpyHostToDevice));
    scanRows<<<h, kScanThreads>>>(dImage, table, w);
    scanColumns<<<(w + 64) / 64, 64>>>(table, w, h);
    boxMean<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(table, dOut, w, h, radius);
    CUDA_REQUIRE(cudaGetLastError());
    CUDA_REQUIRE(cudaMemcpy(filtered.data(), dOut, filtered.size(), cudaMemcpyDeviceToHost));
    unsigned total = 0;
    CUDA_REQUIRE(cudaMemcpy(&total, table + (size_t)(w + 1) * (h + 1) - 1, sizeof total, cudaMemcpyDeviceToHost));

    int wrong = 0;
    unsigned imageSum = 0, hash = 0;
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
            unsigned sum = 0, area = 0;
            for (int v = y - radius; v <= y + radius; ++v)
                for (int u = x - radius; u <= x + radius; ++u)
                    if (u >= 0 && v >= 0 && u < w && v < h) {
                        sum += image[(size_t)v * w + u];
                        ++area;
                    }
            const unsigned char got = filtered[(size_t)y * w + x];
            wrong += got != (sum + area / 2) / area;
            imageSum += image[(size_t)y * w + x];
            hash = hash * 31u + got;
        }
    const bool ok = wrong == 0 && total == imageSum;
    printf("image %dx%d radius %d, table total %u\n", w, h, radius, total);
    printf("filtered corner %u centre %u, hash %08x\n", filtered[0], filtered[(size_t)(h / 2) * w + w / 2], hash);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CUDA_REQUIRE(cudaFree(dImage));
    CUDA_REQUIRE(cudaFree(dOut));
    CUDA_REQUIRE(cudaFree(table));
    return ok ? 0 : 1;
}
