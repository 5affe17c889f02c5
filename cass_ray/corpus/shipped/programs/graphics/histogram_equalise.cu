// SPDX-License-Identifier: MIT
// Contrast equalisation of an 8-bit image entirely on the device: histogram, cumulative
// distribution and remapping table in one block, and the lookup pass over packed pixels.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HE_CUDA(x)                                                                     \
    do {                                                                               \
        const cudaError_t st = (x);                                                    \
        if (st != cudaSuccess) {                                                       \
            fprintf(stderr, "histogram_equalise: %s\n", cudaGetErrorString(st));       \
            exit(2);                                                                   \
        }                                                                              \
    } while (0)

__global__ void countLevels(const unsigned* __restrict__ quads, int n, unsigned* __restrict__ histogram)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        const unsigned q = quads[i];
        for (int shift = 0; shift < 32; shift += 8)
            atomicAdd(&local[q >> shift & 255u], 1u);
    }
    __syncthreads();
    atomicAdd(&histogram[threadIdx.x], local[threadIdx.x]);
}

__global__ void buildMapping(const unsigned* histogram, unsigned pixels, unsigned* mapping)
{
    __shared__ unsigned cumulative[256];
    __shared__ unsigned darkest;
    const int t = threadIdx.x;
    if (t == 0)
        darkest = 0xffffffffu;
    cumulative[t] = histogram[t];
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        const unsigned lower = t >= d ? cumulative[t - d] : 0u;
        __syncthreads();
        cumulative[t] += lower;
        __syncthreads();
    }
    if (histogram[t])
        atomicMin(&darkest, cumulative[t]);  // the first non-empty level has the least cumulative count
    __syncthreads();
    const unsigned spread = pixels - darkest;
    mapping[t] = spread && cumulative[t] >= darkest ? (unsigned)(((unsigned long long)(cumulative[t] - darkest) * 255u + spread / 2) / spread) : (unsigned)t * (spread == 0);
}

__global__ void remap(unsigned* quads, int n, const unsigned* __restrict__ mapping)
{
    __shared__ unsigned char table[256];
    table[threadIdx.x] = (unsigned char)mapping[threadIdx.x];
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        const unsigned q = quads[i];
        unsigned r = 0;
        for (int shift = 0; shift < 32; shift += 8)
            r |= (unsigned)table[q >> shift & 255u] << shift;
        quads[i] = r;
    }
}

int main(int argc, char** argv)
{
    const int w = (argc > 1 ? atoi(argv[1]) : 200) & ~3;
    const int h = argc > 2 ? atoi(argv[2]) : 120;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 2u;
    if (w < 4 || h < 1)
        return 2;
    const int pixels = w * h, quads = pixels / 4;
    std::vector<unsigned char> image(pixels), result(pixels);
    for (unsigned char& p : image) {
        unsigned level = 0;  // a low-contrast bell around 110
        for (int k = 0; k < 4; ++k) {
            seed = seed * 1103515245u + 12345u;
            level += seed >> 16 & 15u;
        }
        p = (unsigned char)(80 + level);
    }
    unsigned *dImage, *histogram, *mapping;
    HE_CUDA(cudaMalloc(&dImage, pixels));
    HE_CUDA(cudaMalloc(&histogram, 256 * sizeof(unsigned)));
    HE_CUDA(cudaMalloc(&mapping, 256 * sizeof(unsigned)));
    HE_CUDA(cudaMemset(histogram, 0, 256 * sizeof(unsigned)));
    HE_CUDA(cudaMemcpy(dImage, image.data(), pixels, cudaMemcpyHostToDevice));
    countLevels<<<6, 256>>>(dImage, quads, histogram);
    buildMapping<<<1, 256>>>(histogram, (unsigned)pixels, mapping);
    remap<<<6, 256>>>(dImage, quads, mapping);
    HE_CUDA(cudaGetLastError());
    HE_CUDA(cudaMemcpy(result.data(), dImage, pixels, cudaMemcpyDeviceToHost));

    std::vector<unsigned> count(256, 0u), sum(256, 0u);
    for (unsigned char p : image)
        ++count[p];
    unsigned running = 0, first = 0;
    for (int l = 0; l < 256; ++l) {
        if (running == 0)
            first = count[l];
        sum[l] = running += count[l];
    }
    const unsigned spread = (unsigned)pixels - first;
    int wrong = 0, low = 255, high = 0;
    double before = 0.0, after = 0.0;
    for (int i = 0; i < pixels; ++i) {
        const unsigned expected = spread ? (unsigned)(((unsigned long long)(sum[image[i]] - first) * 255u + spread / 2) / spread) : image[i];
        wrong += result[i] != expected;
        low = result[i] < low ? result[i] : low;
        high = result[i] > high ? result[i] : high;
        before += image[i];
        after += result[i];
    }
    printf("pixels %d, mean %.3f -> %.3f, range %d..%d\n", pixels, before / pixels, after / pixels, low, high);
    printf("first pixels:");
    for (int i = 0; i < 4; ++i)
        printf(" %d->%d", image[i], result[i]);
    printf("\nverify: %s\n", wrong ? "MISMATCH" : "OK");
    HE_CUDA(cudaFree(dImage));
    HE_CUDA(cudaFree(histogram));
    HE_CUDA(cudaFree(mapping));
    return wrong ? 1 : 0;
}
