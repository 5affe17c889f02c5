// SPDX-License-Identifier: MIT
// Mandelbrot set in 64-bit fixed point (28 fraction bits), so the picture is bit-exact on every
// machine. Prints a coarse character rendering and the histogram of escape counts.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(x)                                                         \
    do {                                                                      \
        cudaError_t e = (x);                                                  \
        if (e != cudaSuccess) {                                               \
            fprintf(stderr, "mandelbrot: %s (%d)\n", cudaGetErrorString(e), __LINE__); \
            exit(2);                                                          \
        }                                                                     \
    } while (0)

typedef long long fixed;
constexpr int kFraction = 28;

struct View {
    fixed left, top, step;
    int width, height, limit;
};

__host__ __device__ inline int escapeTime(const View& v, int px, int py)
{
    const fixed cx = v.left + px * v.step, cy = v.top + py * v.step;
    fixed x = 0, y = 0;
    for (int i = 0; i < v.limit; ++i) {
        const fixed xx = x * x >> kFraction, yy = y * y >> kFraction;
        if (xx + yy > (fixed)4 << kFraction)
            return i;
        y = (x * y >> (kFraction - 1)) + cy;
        x = xx - yy + cx;
    }
    return v.limit;
}

__global__ void render(View view, unsigned short* image, unsigned* histogram)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= view.width || y >= view.height)
        return;
    const int t = escapeTime(view, x, y);
    image[y * view.width + x] = (unsigned short)t;
    atomicAdd(&histogram[t], 1u);
}

int main(int argc, char** argv)
{
    View view;
    view.width = argc > 1 ? atoi(argv[1]) : 96;
    view.height = argc > 2 ? atoi(argv[2]) : 64;
    view.limit = argc > 3 ? atoi(argv[3]) : 60;
    if (view.width < 8 || view.height < 8 || view.limit < 2 || view.limit > 60000)
        return 2;
    view.step = ((fixed)3 << kFraction) / view.width;
    view.left = -(((fixed)9 << kFraction) / 4);
    view.top = -(view.step * view.height / 2);

    const int pixels = view.width * view.height;
    unsigned short* image;
    unsigned* histogram;
    CUDA_CHECK(cudaMalloc(&image, pixels * sizeof(unsigned short)));
    CUDA_CHECK(cudaMalloc(&histogram, (view.limit + 1) * sizeof(unsigned)));
    CUDA_CHECK(cudaMemset(histogram, 0, (view.limit + 1) * sizeof(unsigned)));
    const dim3 block(16, 8), grid((view.width + 15) / 16, (view.height + 7) / 8);
    render<<<grid, block>>>(view, image, histogram);
    CUDA_CHECK(cudaGetLastError());
    std::vector<unsigned short> host(pixels);
    std::vector<unsigned> counts(view.limit + 1), expected(view.limit + 1, 0u);
    CUDA_CHECK(cudaMemcpy(host.data(), image, pixels * sizeof(unsigned short), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(counts.data(), histogram, counts.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(image));
    CUDA_CHECK(cudaFree(histogram));

    bool ok = true;
    unsigned hash = 2166136261u;
    for (int y = 0; y < view.height; ++y)
        for (int x = 0; x < view.width; ++x) {
            const int t = escapeTime(view, x, y);
            ok = ok && t == host[y * view.width + x];
            ++expected[t];
            hash = (hash ^ (unsigned)host[y * view.width + x]) * 16777619u;
        }
    ok = ok && counts == expected;
    const char shades[] = " .:-=+*#%@";
    for (int y = 0; y < view.height; y += view.height / 8) {
        for (int x = 0; x < view.width; x += view.width / 48 + 1)
            putchar(shades[host[y * view.width + x] * 9 / view.limit]);
        putchar('\n');
    }
    printf("inside %u of %d, hash %08x\n", counts[view.limit], pixels, hash);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
