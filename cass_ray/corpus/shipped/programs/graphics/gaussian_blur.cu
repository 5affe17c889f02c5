// SPDX-License-Identifier: MIT
// Separable Gaussian blur of a grey image with integer weights in constant memory. The row pass
// stages a strip with its apron in shared memory; borders are clamped.
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t e = (call);                                                \
        if (e != cudaSuccess) {                                                \
            fprintf(stderr, "blur: %s, line %d\n", cudaGetErrorString(e), __LINE__); \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

typedef unsigned char u8;

constexpr int kRadius = 4;
constexpr int kTaps = 2 * kRadius + 1;
constexpr int kStrip = 64;

__constant__ int weights[kTaps];  // sum is 4096

__global__ void blurRows(const u8* __restrict__ in, int* __restrict__ out, int w, int h)
{
    __shared__ u8 strip[kStrip + 2 * kRadius];
    const int y = blockIdx.y, x0 = blockIdx.x * kStrip;
    for (int i = threadIdx.x; i < kStrip + 2 * kRadius; i += kStrip)
        strip[i] = in[y * w + min(max(x0 + i - kRadius, 0), w - 1)];
    __syncthreads();
    const int x = x0 + threadIdx.x;
    if (x >= w)
        return;
    int sum = 0;
#pragma unroll
    for (int k = 0; k < kTaps; ++k)
        sum += weights[k] * strip[threadIdx.x + k];
    out[y * w + x] = sum;
}

__global__ void blurColumns(const int* __restrict__ in, u8* __restrict__ out, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    long long sum = 1 << 23;  // rounds the 24 fraction bits
    for (int k = -kRadius; k <= kRadius; ++k)
        sum += (long long)weights[k + kRadius] * in[min(max(y + k, 0), h - 1) * w + x];
    out[y * w + x] = (u8)(sum >> 24);
}

int main(int argc, char** argv)
{
    const int w = argc > 1 ? atoi(argv[1]) : 150;
    const int h = argc > 2 ? atoi(argv[2]) : 90;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 6u;
    if (w < 1 || h < 1)
        return 2;
    int taps[kTaps], total = 0;
    for (int k = 0; k < kTaps; ++k) {
        const double d = (k - kRadius) / 1.8;
        total += taps[k] = (int)(1000.0 * exp(-0.5 * d * d));
    }
    int scaled = 0;
    for (int k = 0; k < kTaps; ++k)
        scaled += taps[k] = taps[k] * 4096 / total;
    taps[kRadius] += 4096 - scaled;

    std::vector<u8> image(w * h), blurred(w * h);
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
            seed = seed * 1664525u + 1013904223u;
            const int shape = (x / 16 + y / 12) % 2 ? 190 : 40;
            image[y * w + x] = (u8)(shape + (int)(seed >> 26));
        }
    u8 *dIn, *dOut;
    int* dRows;
    CHECK(cudaMalloc(&dIn, w * h));
    CHECK(cudaMalloc(&dOut, w * h));
    CHECK(cudaMalloc(&dRows, w * h * sizeof(int)));
    CHECK(cudaMemcpyToSymbol(weights, taps, sizeof taps));
    CHECK(cudaMemcpy(dIn, image.data(), w * h, cudaMemcpyHostToDevice));
    blurRows<<<dim3((w + kStrip - 1) / kStrip, h), kStrip>>>(dIn, dRows, w, h);
    blurColumns<<<dim3((w + 31) / 32, (h + 3) / 4), dim3(32, 4)>>>(dRows, dOut, w, h);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(blurred.data(), dOut, w * h, cudaMemcpyDeviceToHost));

    auto clampTo = [](int v, int n) { return std::min(std::max(v, 0), n - 1); };
    int wrong = 0;
    long long sum = 0, contrast = 0;
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
            long long acc = 1 << 23;
            for (int j = 0; j < kTaps; ++j)
                for (int i = 0; i < kTaps; ++i)
                    acc += (long long)taps[j] * taps[i] * image[clampTo(y + j - kRadius, h) * w + clampTo(x + i - kRadius, w)];
            wrong += blurred[y * w + x] != (u8)(acc >> 24);
            sum += blurred[y * w + x];
            if (x)
                contrast += abs(blurred[y * w + x] - blurred[y * w + x - 1]);
        }
    printf("image %dx%d radius %d, centre weight %d\n", w, h, kRadius, taps[kRadius]);
    printf("sum %lld, horizontal contrast %lld\n", sum, contrast);
    printf("verify: %s\n", wrong ? "MISMATCH" : "OK");
    CHECK(cudaFree(dIn));
    CHECK(cudaFree(dOut));
    CHECK(cudaFree(dRows));
    return wrong ? 1 : 0;
}
