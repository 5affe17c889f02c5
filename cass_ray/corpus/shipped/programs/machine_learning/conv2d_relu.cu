// SPDX-License-Identifier: MIT
// 3x3 convolution with bias and ReLU on NCHW tensors, zero padding, filters in constant memory,
// followed by 2x2 max pooling. One block layer per output channel (grid z).
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_OK(x)                                                          \
    do {                                                                    \
        const cudaError_t e = (x);                                          \
        if (e != cudaSuccess) {                                             \
            fprintf(stderr, "conv2d %d: %s\n", __LINE__, cudaGetErrorName(e)); \
            exit(2);                                                        \
        }                                                                   \
    } while (0)

constexpr int kIn = 3, kOut = 4;

struct Filters {
    float weight[kOut][kIn][3][3];
    float bias[kOut];
};

__constant__ Filters filters;

struct Plane {
    int height, width;
};

__global__ void convolve(const float* __restrict__ input, float* __restrict__ output, Plane p)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int channel = blockIdx.z % kOut, image = blockIdx.z / kOut;
    if (x >= p.width || y >= p.height)
        return;
    float sum = filters.bias[channel];
    for (int c = 0; c < kIn; ++c) {
        const float* plane = input + (size_t)(image * kIn + c) * p.height * p.width;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                const int sy = y + dy, sx = x + dx;
                if (sy >= 0 && sy < p.height && sx >= 0 && sx < p.width)
                    sum += filters.weight[channel][c][dy + 1][dx + 1] * __ldg(&plane[sy * p.width + sx]);
            }
    }
    output[((size_t)blockIdx.z * p.height + y) * p.width + x] = fmaxf(sum, 0.0f);
}

__global__ void maxPool(const float* __restrict__ input, float* __restrict__ output, Plane p)
{
    const int w = p.width / 2, h = p.height / 2;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const float* top = input + ((size_t)blockIdx.z * p.height + 2 * y) * p.width + 2 * x;
    output[((size_t)blockIdx.z * h + y) * w + x] = fmaxf(fmaxf(top[0], top[1]), fmaxf(top[p.width], top[p.width + 1]));
}

int main(int argc, char** argv)
{
    const Plane plane = {argc > 1 ? atoi(argv[1]) : 28, argc > 2 ? atoi(argv[2]) : 36};
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 10u;
    const int images = 2;
    if (plane.height < 2 || plane.width < 2)
        return 2;
    auto random = [&seed](float scale) {
        seed = seed * 1103515245u + 12345u;
        return scale * ((float)(seed >> 16 & 0x7fffu) / 16384.0f - 1.0f);
    };
    Filters host;
    for (int o = 0; o < kOut; ++o) {
        host.bias[o] = random(0.2f);
        for (int i = 0; i < kIn * 9; ++i)
            (&host.weight[o][0][0][0])[i] = random(0.5f);
    }
    const int h = plane.height, w = plane.width, ph = h / 2, pw = w / 2;
    std::vector<float> input((size_t)images * kIn * h * w), full((size_t)images * kOut * h * w),
        pooled((size_t)images * kOut * ph * pw);
    for (float& v : input)
        v = random(1.0f);

    float *dIn, *dFull, *dPooled;
    CUDA_OK(cudaMalloc(&dIn, input.size() * sizeof(float)));
    CUDA_OK(cudaMalloc(&dFull, full.size() * sizeof(float)));
    CUDA_OK(cudaMalloc(&dPooled, pooled.size() * sizeof(float)));
    CUDA_OK(cudaMemcpyToSymbol(filters, &host, sizeof host));
    CUDA_OK(cudaMemcpy(dIn, input.data(), input.size() * sizeof(float), cudaMemcpyHostToDevice));
    const dim3 block(16, 8);
    convolve<<<dim3((w + 15) / 16, (h + 7) / 8, images * kOut), block>>>(dIn, dFull, plane);
    maxPool<<<dim3((pw + 15) / 16, (ph + 7) / 8, images * kOut), block>>>(dFull, dPooled, plane);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(pooled.data(), dPooled, pooled.size() * sizeof(float), cudaMemcpyDeviceToHost));

    double worst = 0.0, sum = 0.0;
    int zeros = 0;
    for (int layer = 0; layer < images * kOut; ++layer)
        for (int y = 0; y < h; ++y)
            for (int x = 0; x < w; ++x) {
                double v = host.bias[layer % kOut];
                for (int c = 0; c < kIn; ++c)
                    for (int k = 0; k < 9; ++k) {
                        const int sy = y + k / 3 - 1, sx = x + k % 3 - 1;
                        if (sy >= 0 && sy < h && sx >= 0 && sx < w)
                            v += (double)host.weight[layer % kOut][c][k / 3][k % 3] *
                                 input[((size_t)(layer / kOut * kIn + c) * h + sy) * w + sx];
                    }
                full[((size_t)layer * h + y) * w + x] = (float)(v > 0.0 ? v : 0.0);
            }
    for (int layer = 0; layer < images * kOut; ++layer)
        for (int y = 0; y < ph; ++y)
            for (int x = 0; x < pw; ++x) {
                float best = 0.0f;
                for (int k = 0; k < 4; ++k)
                    best = fmaxf(best, full[((size_t)layer * h + 2 * y + k / 2) * w + 2 * x + k % 2]);
                const float got = pooled[((size_t)layer * ph + y) * pw + x];
                worst = fmax(worst, fabs(got - best));
                sum += got;
                zeros += best == 0.0f;
            }
    printf("pooled maps %d of %dx%d\n", images * kOut, ph, pw);
    printf("mean activation %.4f, silent outputs %d\n", sum / pooled.size(), zeros);
    printf("verify: %s\n", worst < 1e-4 ? "OK" : "MISMATCH");
    CUDA_OK(cudaFree(dIn));
    CUDA_OK(cudaFree(dFull));
    CUDA_OK(cudaFree(dPooled));
    return worst < 1e-4 ? 0 : 1;
}
