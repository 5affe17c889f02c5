// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#pragma once
#include <cuda_runtime.h>

#include "shape.h"

static const int kThreads = 96;

inline int blocksFor(int work) { return (work + kThreads - 1) / kThreads; }

struct LeakyRelu {
    int shift;
    __device__ int operator()(int x) const { return x < 0 ? x >> shift : x; }
};

struct Clamp {
    int low, high;
    __device__ int operator()(int x) const { return min(max(x, low), high); }
};

// One row of `columns` for each output position: the patch under the kernel.
template <int Kernel>
__global__ void im2col(const int* image, Shape in, Shape out, int* columns)
{
    const int patch = in.channels * Kernel * Kernel;
    const int total = out.height * out.width * patch;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int position = i / patch, k = i % patch;
        const int c = k / (Kernel * Kernel), dy = k / Kernel % Kernel, dx = k % Kernel;
        const int y = position / out.width + dy, x = position % out.width + dx;
        columns[i] = image[(c * in.height + y) * in.width + x];
    }
}

template <typename Activation>
__global__ void multiply(const int* weights, const int* columns, int* output, int channels, int positions,
                         int patch, Activation activation)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= channels * positions)
        return;
    const int* w = weights + i / positions * patch;
    const int* column = columns + i % positions * patch;
    int sum = 0;
    for (int k = 0; k < patch; ++k)
        sum += w[k] * column[k];
    output[i] = activation(sum);
}

template <int Kernel, typename Activation>
void convolve(const int* image, const Shape& in, const int* weights, const Shape& out, int* columns,
              int* output, Activation activation)
{
    const int patch = in.channels * Kernel * Kernel, positions = out.height * out.width;
    im2col<Kernel><<<blocksFor(positions * patch), kThreads>>>(image, in, out, columns);
    multiply<<<blocksFor(out.channels * positions), kThreads>>>(weights, columns, output, out.channels,
                                                                positions, patch, activation);
}

__global__ void maxPool(const int* in, Shape inShape, int* out, Shape outShape)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int plane = outShape.height * outShape.width;
    if (i >= outShape.channels * plane)
        return;
    const int y = i % plane / outShape.width * 2, x = i % outShape.width * 2;
    const int* corner = in + (i / plane * inShape.height + y) * inShape.width + x;
    out[i] = max(max(corner[0], corner[1]), max(corner[inShape.width], corner[inShape.width + 1]));
}
