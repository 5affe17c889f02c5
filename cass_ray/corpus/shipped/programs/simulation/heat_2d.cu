// SPDX-License-Identifier: MIT
// Explicit heat conduction in a plate with fixed edge temperatures, in managed memory.
// The residual (largest change in a step) is tracked with an atomic maximum on float bits.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#define ENSURE(call)                                                              \
    do {                                                                          \
        cudaError_t status = (call);                                              \
        if (status != cudaSuccess) {                                              \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(status)); \
            exit(2);                                                              \
        }                                                                         \
    } while (0)

__device__ int largestChangeBits;

template <int W, int H>
__global__ void conduct(const float* t, float* out, int nx, int ny, float k)
{
    __shared__ float s[H + 2][W + 2];
    const int x = blockIdx.x * W + threadIdx.x, y = blockIdx.y * H + threadIdx.y;
    const int sx = threadIdx.x + 1, sy = threadIdx.y + 1;
    const int cx = min(x, nx - 1), cy = min(y, ny - 1);
    s[sy][sx] = t[cy * nx + cx];
    if (threadIdx.x == 0)
        s[sy][0] = t[cy * nx + max(cx - 1, 0)];
    if (threadIdx.x == W - 1)
        s[sy][W + 1] = t[cy * nx + min(cx + 1, nx - 1)];
    if (threadIdx.y == 0)
        s[0][sx] = t[max(cy - 1, 0) * nx + cx];
    if (threadIdx.y == H - 1)
        s[H + 1][sx] = t[min(cy + 1, ny - 1) * nx + cx];
    __syncthreads();
    if (x >= nx || y >= ny)
        return;
    float value = s[sy][sx];
    if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1) {
        const float change = k * (s[sy][sx - 1] + s[sy][sx + 1] + s[sy - 1][sx] + s[sy + 1][sx] - 4.0f * value);
        value += change;
        atomicMax(&largestChangeBits, __float_as_int(fabsf(change)));  // bit order equals value order for floats >= 0
    }
    out[y * nx + x] = value;
}

int main(int argc, char** argv)
{
    const int nx = argc > 1 ? atoi(argv[1]) : 60;
    const int ny = argc > 2 ? atoi(argv[2]) : 44;
    const int steps = argc > 3 ? atoi(argv[3]) : 25;
    if (nx < 3 || ny < 3 || steps < 1)
        return 2;
    const float k = 0.2f;
    float *a, *b;
    ENSURE(cudaMallocManaged(&a, nx * ny * sizeof(float)));
    ENSURE(cudaMallocManaged(&b, nx * ny * sizeof(float)));
    std::vector<float> cpu(nx * ny), next;
    for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x)
            cpu[y * nx + x] = a[y * nx + x] = y == 0 ? 100.0f : x == 0 ? 50.0f * (float)(ny - y) / ny : 0.0f;

    const dim3 block(16, 8), grid((nx + 15) / 16, (ny + 7) / 8);
    int bits = 0;
    for (int s = 0; s < steps; ++s) {
        const int zero = 0;
        ENSURE(cudaMemcpyToSymbol(largestChangeBits, &zero, sizeof zero));
        conduct<16, 8><<<grid, block>>>(a, b, nx, ny, k);
        ENSURE(cudaGetLastError());
        ENSURE(cudaMemcpyFromSymbol(&bits, largestChangeBits, sizeof bits));
        std::swap(a, b);
    }
    ENSURE(cudaDeviceSynchronize());

    float change = 0.0f;
    for (int s = 0; s < steps; ++s) {
        next = cpu;
        change = 0.0f;
        for (int y = 1; y < ny - 1; ++y)
            for (int x = 1; x < nx - 1; ++x) {
                const int i = y * nx + x;
                const float d = k * (cpu[i - 1] + cpu[i + 1] + cpu[i - nx] + cpu[i + nx] - 4.0f * cpu[i]);
                next[i] = cpu[i] + d;
                change = fmaxf(change, fabsf(d));
            }
        cpu.swap(next);
    }
    float residual;
    memcpy(&residual, &bits, sizeof residual);
    double mean = 0.0, worst = fabs(residual - change);
    for (int i = 0; i < nx * ny; ++i) {
        mean += a[i];
        worst = fmax(worst, fabs((double)a[i] - cpu[i]));
    }
    printf("plate %dx%d steps %d\n", nx, ny, steps);
    printf("mean temperature %.4f, largest change in last step %.4f\n", mean / (nx * ny), residual);
    printf("probe (%d,%d): %.3f\n", nx / 3, 2, a[2 * nx + nx / 3]);
    printf("verify: %s\n", worst < 1e-3 ? "OK" : "MISMATCH");
    ENSURE(cudaFree(a));
    ENSURE(cudaFree(b));
    return worst < 1e-3 ? 0 : 1;
}
