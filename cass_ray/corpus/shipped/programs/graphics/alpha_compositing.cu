// SPDX-License-Identifier: MIT
// Composites layers of premultiplied RGBA pixels back to front. The blend mode of each layer is
// a device function reached through a pointer fetched from a device-side table.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_OR_EXIT(x)                                                  \
    do {                                                                 \
        cudaError_t status = (x);                                        \
        if (status != cudaSuccess) {                                     \
            fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(status)); \
            exit(2);                                                     \
        }                                                                \
    } while (0)

__host__ __device__ inline unsigned times(unsigned a, unsigned b)  // a * b / 255, rounded
{
    const unsigned t = a * b + 128u;
    return (t + (t >> 8)) >> 8;
}
__host__ __device__ inline unsigned char clip(unsigned v) { return (unsigned char)(v > 255u ? 255u : v); }

typedef unsigned char (*Blend)(unsigned source, unsigned below, unsigned alpha);

__host__ __device__ inline unsigned char overMode(unsigned s, unsigned d, unsigned a) { return clip(s + times(d, 255u - a)); }
__host__ __device__ inline unsigned char addMode(unsigned s, unsigned d, unsigned) { return clip(s + d); }
__host__ __device__ inline unsigned char screenMode(unsigned s, unsigned d, unsigned) { return clip(s + d - times(s, d)); }

__device__ unsigned char deviceOver(unsigned s, unsigned d, unsigned a) { return overMode(s, d, a); }
__device__ unsigned char deviceAdd(unsigned s, unsigned d, unsigned a) { return addMode(s, d, a); }
__device__ unsigned char deviceScreen(unsigned s, unsigned d, unsigned a) { return screenMode(s, d, a); }

__device__ Blend blendTable[3] = {deviceOver, deviceAdd, deviceScreen};

__host__ __device__ inline uchar4 combine(Blend blend, uchar4 s, uchar4 d)
{
    return make_uchar4(blend(s.x, d.x, s.w), blend(s.y, d.y, s.w), blend(s.z, d.z, s.w), blend(s.w, d.w, s.w));
}

__global__ void composite(const uchar4* layers, const int* modes, int count, int pixels, uchar4* out)
{
    extern __shared__ int mode[];
    for (int l = threadIdx.x; l < count; l += blockDim.x)
        mode[l] = modes[l];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels)
        return;
    uchar4 result = make_uchar4(0, 0, 0, 0);
    for (int l = 0; l < count; ++l)
        result = combine(blendTable[mode[l]], layers[(size_t)l * pixels + i], result);
    out[i] = result;
}

int main(int argc, char** argv)
{
    const int pixels = argc > 1 ? atoi(argv[1]) : 6000;
    const int count = argc > 2 ? atoi(argv[2]) : 7;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 88u;
    if (pixels < 1 || count < 1 || count > 256)
        return 2;
    std::vector<uchar4> layers((size_t)pixels * count), result(pixels);
    std::vector<int> modes(count);
    for (int l = 0; l < count; ++l)
        modes[l] = l % 3;
    for (uchar4& p : layers) {
        seed = seed * 1664525u + 1013904223u;
        p.w = (unsigned char)(seed >> 24);
        p.x = (unsigned char)times(seed >> 16 & 255u, p.w);  // premultiplied
        p.y = (unsigned char)times(seed >> 8 & 255u, p.w);
        p.z = (unsigned char)times((seed >> 20) & 255u, p.w);
    }
    uchar4 *dLayers, *dOut;
    int* dModes;
    CUDA_OR_EXIT(cudaMalloc(&dLayers, layers.size() * sizeof(uchar4)));
    CUDA_OR_EXIT(cudaMalloc(&dOut, pixels * sizeof(uchar4)));
    CUDA_OR_EXIT(cudaMalloc(&dModes, count * sizeof(int)));
    CUDA_OR_EXIT(cudaMemcpy(dLayers, layers.data(), layers.size() * sizeof(uchar4), cudaMemcpyHostToDevice));
    CUDA_OR_EXIT(cudaMemcpy(dModes, modes.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    composite<<<(pixels + 127) / 128, 128, count * sizeof(int)>>>(dLayers, dModes, count, pixels, dOut);
    CUDA_OR_EXIT(cudaGetLastError());
    CUDA_OR_EXIT(cudaMemcpy(result.data(), dOut, pixels * sizeof(uchar4), cudaMemcpyDeviceToHost));

    const Blend hostTable[3] = {overMode, addMode, screenMode};
    int wrong = 0;
    unsigned long long sums[4] = {};
    for (int i = 0; i < pixels; ++i) {
        uchar4 e = make_uchar4(0, 0, 0, 0);
        for (int l = 0; l < count; ++l)
            e = combine(hostTable[modes[l]], layers[(size_t)l * pixels + i], e);
        const uchar4 g = result[i];
        wrong += e.x != g.x || e.y != g.y || e.z != g.z || e.w != g.w;
        sums[0] += g.x;
        sums[1] += g.y;
        sums[2] += g.z;
        sums[3] += g.w;
    }
    printf("%d layers over %d pixels\n", count, pixels);
    printf("sums r %llu g %llu b %llu a %llu\n", sums[0], sums[1], sums[2], sums[3]);
    printf("pixel 0: %d %d %d %d\n", result[0].x, result[0].y, result[0].z, result[0].w);
    printf("verify: %s\n", wrong ? "MISMATCH" : "OK");
    CUDA_OR_EXIT(cudaFree(dLayers));
    CUDA_OR_EXIT(cudaFree(dOut));
    CUDA_OR_EXIT(cudaFree(dModes));
    return wrong ? 1 : 0;
}
