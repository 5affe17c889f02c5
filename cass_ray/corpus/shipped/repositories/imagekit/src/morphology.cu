// SPDX-License-Identifier: MIT
// Grey-scale opening (erosion, then dilation) with a square structuring element; one template
// kernel serves both operations with a shared-memory tile of run-time size.
#include "../include/image.cuh"
#include "../include/pattern.cuh"

#include <algorithm>
#include <cstdlib>

using imagekit::DeviceImage;
using imagekit::View;

struct Erode {
    static __host__ __device__ unsigned char pick(unsigned char a, unsigned char b) { return a < b ? a : b; }
};
struct Dilate {
    static __host__ __device__ unsigned char pick(unsigned char a, unsigned char b) { return a > b ? a : b; }
};

template <class Operation>
__global__ void rankFilter(View<unsigned char> in, View<unsigned char> out, int radius)
{
    extern __shared__ unsigned char tile[];
    const int pitch = blockDim.x + 2 * radius, rows = blockDim.y + 2 * radius;
    const int x0 = blockIdx.x * blockDim.x - radius, y0 = blockIdx.y * blockDim.y - radius;
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < pitch * rows; i += blockDim.x * blockDim.y)
        tile[i] = in.clamped(x0 + i % pitch, y0 + i / pitch);
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (!in.contains(x, y))
        return;
    unsigned char value = tile[(threadIdx.y + radius) * pitch + threadIdx.x + radius];
    for (int dy = 0; dy <= 2 * radius; ++dy)
        for (int dx = 0; dx <= 2 * radius; ++dx)
            value = Operation::pick(value, tile[(threadIdx.y + dy) * pitch + threadIdx.x + dx]);
    out.at(x, y) = value;
}

template <class Operation>
static std::vector<unsigned char> onHost(std::vector<unsigned char> pixels, int width, int height, int radius)
{
    const std::vector<unsigned char> copy = pixels;
    const View<const unsigned char> in{copy.data(), width, height};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int dy = -radius; dy <= radius; ++dy)
                for (int dx = -radius; dx <= radius; ++dx) {
                    unsigned char& p = pixels[(size_t)y * width + x];
                    p = Operation::pick(p, in.clamped(x + dx, y + dy));
                }
    return pixels;
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 130, height = argc > 2 ? atoi(argv[2]) : 90;
    const int radius = argc > 3 ? atoi(argv[3]) : 2;
    const unsigned seed = argc > 4 ? (unsigned)atoi(argv[4]) : 12u;
    if (width < 1 || height < 1 || radius < 0 || radius > 16)
        return 2;
    const std::vector<unsigned char> picture = imagekit::discs(width, height, 12, 40, seed);
    DeviceImage<unsigned char> a(picture, width, height), b(width, height);
    const dim3 block(16, 8), grid = imagekit::tiles(width, height, block);
    const size_t shared = (block.x + 2 * radius) * (block.y + 2 * radius);
    rankFilter<Erode><<<grid, block, shared>>>(a.view(), b.view(), radius);
    rankFilter<Dilate><<<grid, block, shared>>>(b.view(), a.view(), radius);
    IMAGEKIT_CHECK(cudaGetLastError());
    const std::vector<unsigned char> opened = a.download();

    const bool ok = opened == onHost<Dilate>(onHost<Erode>(picture, width, height, radius), width, height, radius);
    long long before = 0, after = 0;
    int lowest = 255, highest = 0;
    for (size_t i = 0; i < picture.size(); ++i) {
        before += picture[i];
        after += opened[i];
        lowest = std::min<int>(lowest, opened[i]);
        highest = std::max<int>(highest, opened[i]);
    }
    printf("opening of %dx%d with radius %d\n", width, height, radius);
    printf("sum %lld -> %lld, range %d..%d\n", before, after, lowest, highest);
    return imagekit::report(ok);
}
