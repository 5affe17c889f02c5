// SPDX-License-Identifier: MIT
// Otsu's threshold: histogram on the device, one thread per candidate threshold, and a
// reduction that picks the best between-class variance (exact in integers).
#include "../include/image.cuh"
#include "../include/pattern.cuh"

#include <cstdlib>

using imagekit::DeviceImage;
using imagekit::View;

__global__ void histogram(View<unsigned char> image, unsigned* bins)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < image.size(); i += gridDim.x * 256)
        atomicAdd(&local[image.data[i]], 1u);
    __syncthreads();
    if (local[threadIdx.x])
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// Between-class variance up to a constant factor, as a scaled integer quotient.
__host__ __device__ inline unsigned long long separation(const unsigned* bins, int threshold)
{
    unsigned long long countLow = 0, sumLow = 0, count = 0, sum = 0;
    for (int v = 0; v < 256; ++v) {
        count += bins[v];
        sum += (unsigned long long)bins[v] * v;
        if (v <= threshold) {
            countLow = count;
            sumLow = sum;
        }
    }
    const unsigned long long countHigh = count - countLow;
    if (countLow == 0 || countHigh == 0)
        return 0;
    const long long gap = (long long)(sumLow * 256 / countLow) - (long long)((sum - sumLow) * 256 / countHigh);
    return (unsigned long long)(gap * gap) / 256 * (countLow * countHigh / count);
}

__global__ void chooseThreshold(const unsigned* bins, unsigned long long* best)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = bins[threadIdx.x];
    __syncthreads();
    // The threshold is packed below the score, inverted so that ties go to the smallest one.
    const unsigned long long packed = separation(local, threadIdx.x) << 8 | (255u - threadIdx.x);
    atomicMax(best, packed);
}

__global__ void binarise(View<unsigned char> image, const unsigned long long* best, unsigned* foreground)
{
    const unsigned threshold = 255u - (unsigned)(*best & 255u);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool bright = i < image.size() && image.data[i] > threshold;
    if (i < image.size())
        image.data[i] = bright ? 255 : 0;
    const int count = __syncthreads_count(bright);
    if (threadIdx.x == 0 && count)
        atomicAdd(foreground, (unsigned)count);
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 160, height = argc > 2 ? atoi(argv[2]) : 120;
    const unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 7u;
    if (width < 1 || height < 1 || width > 2000 || height > 2000)
        return 2;
    const std::vector<unsigned char> picture = imagekit::discs(width, height, 9, 60, seed);
    DeviceImage<unsigned char> image(picture, width, height);
    unsigned *bins, *foreground, bright = 0;
    unsigned long long *best, packed = 0;
    IMAGEKIT_CHECK(cudaMalloc(&bins, 256 * sizeof(unsigned)));
    IMAGEKIT_CHECK(cudaMalloc(&foreground, sizeof(unsigned)));
    IMAGEKIT_CHECK(cudaMalloc(&best, sizeof *best));
    IMAGEKIT_CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
    IMAGEKIT_CHECK(cudaMemset(foreground, 0, sizeof(unsigned)));
    IMAGEKIT_CHECK(cudaMemset(best, 0, sizeof *best));
    histogram<<<6, 256>>>(image.view(), bins);
    chooseThreshold<<<1, 256>>>(bins, best);
    binarise<<<(width * height + 127) / 128, 128>>>(image.view(), best, foreground);
    IMAGEKIT_CHECK(cudaGetLastError());
    IMAGEKIT_CHECK(cudaMemcpy(&packed, best, sizeof packed, cudaMemcpyDeviceToHost));
    IMAGEKIT_CHECK(cudaMemcpy(&bright, foreground, sizeof bright, cudaMemcpyDeviceToHost));
    const std::vector<unsigned char> result = image.download();

    unsigned counts[256] = {}, expectedBright = 0;
    for (unsigned char p : picture)
        ++counts[p];
    int threshold = 0;
    for (int t = 1; t < 256; ++t)
        if (separation(counts, t) > separation(counts, threshold))
            threshold = t;
    bool ok = 255 - (int)(packed & 255u) == threshold;
    for (size_t i = 0; i < picture.size(); ++i) {
        expectedBright += picture[i] > threshold;
        ok = ok && result[i] == (picture[i] > threshold ? 255 : 0);
    }
    ok = ok && bright == expectedBright;
    printf("image %dx%d threshold %d foreground %u\n", width, height, 255 - (int)(packed & 255u), bright);
    IMAGEKIT_CHECK(cudaFree(bins));
    IMAGEKIT_CHECK(cudaFree(foreground));
    IMAGEKIT_CHECK(cudaFree(best));
    return imagekit::report(ok);
}
