// SPDX-License-Identifier: MIT
// Integer RGB to YCbCr conversion and back, with the error census kept in device counters and
// the planes processed on two streams.
#include "../include/image.cuh"
#include "../include/pattern.cuh"

#include <cstdlib>

using imagekit::DeviceImage;
using imagekit::View;

struct Errors {
    unsigned histogram[8];  // largest channel error of a pixel, 0..6 and more
};

__device__ Errors errors;

__host__ __device__ inline unsigned char byteOf(int v) { return (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v); }

__host__ __device__ inline uchar4 toYcc(uchar4 p)
{
    const int y = (19595 * p.x + 38470 * p.y + 7471 * p.z + 32768) >> 16;
    const int cb = ((-11059 * p.x - 21709 * p.y + 32768 * p.z + 32768) >> 16) + 128;
    const int cr = ((32768 * p.x - 27439 * p.y - 5329 * p.z + 32768) >> 16) + 128;
    return make_uchar4(byteOf(y), byteOf(cb), byteOf(cr), p.w);
}

__host__ __device__ inline uchar4 toRgb(uchar4 p)
{
    const int cb = p.y - 128, cr = p.z - 128;
    const int r = p.x + ((91881 * cr + 32768) >> 16);
    const int g = p.x + ((-22554 * cb - 46802 * cr + 32768) >> 16);
    const int b = p.x + ((116130 * cb + 32768) >> 16);
    return make_uchar4(byteOf(r), byteOf(g), byteOf(b), p.w);
}

__host__ __device__ inline int largestError(uchar4 a, uchar4 b)
{
    const int dx = abs((int)a.x - b.x), dy = abs((int)a.y - b.y), dz = abs((int)a.z - b.z);
    const int most = dx > dy ? (dx > dz ? dx : dz) : (dy > dz ? dy : dz);
    return most < 7 ? most : 7;
}

__global__ void roundTrip(View<uchar4> rgb, View<uchar4> ycc, int firstRow, int rows)
{
    __shared__ unsigned local[8];
    const int t = threadIdx.y * blockDim.x + threadIdx.x;
    if (t < 8)
        local[t] = 0;
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < rgb.width && y < rows) {
        const uchar4 p = rgb.at(x, firstRow + y), q = toYcc(p);
        ycc.at(x, firstRow + y) = q;
        atomicAdd(&local[largestError(p, toRgb(q))], 1u);
    }
    __syncthreads();
    if (t < 8 && local[t])
        atomicAdd(&errors.histogram[t], local[t]);
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 100, height = argc > 2 ? atoi(argv[2]) : 70;
    const unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    if (width < 1 || height < 2)
        return 2;
    imagekit::Random random(seed);
    std::vector<uchar4> picture((size_t)width * height);
    for (uchar4& p : picture) {
        p.x = (unsigned char)random.below(256);
        p.y = (unsigned char)random.below(256);
        p.z = (unsigned char)random.below(256);
        p.w = 255;
    }
    DeviceImage<uchar4> rgb(picture, width, height), ycc(width, height);
    const Errors none = {};
    IMAGEKIT_CHECK(cudaMemcpyToSymbol(errors, &none, sizeof none));
    cudaStream_t stream[2];
    const int half = height / 2;
    const dim3 block(32, 4);
    for (int s = 0; s < 2; ++s) {
        const int rows = s ? height - half : half;
        IMAGEKIT_CHECK(cudaStreamCreate(&stream[s]));
        roundTrip<<<imagekit::tiles(width, rows, block), block, 0, stream[s]>>>(rgb.view(), ycc.view(), s * half, rows);
        IMAGEKIT_CHECK(cudaGetLastError());
    }
    for (cudaStream_t s : stream) {
        IMAGEKIT_CHECK(cudaStreamSynchronize(s));
        IMAGEKIT_CHECK(cudaStreamDestroy(s));
    }
    Errors found, expected = {};
    IMAGEKIT_CHECK(cudaMemcpyFromSymbol(&found, errors, sizeof found));
    const std::vector<uchar4> converted = ycc.download();

    bool ok = true;
    unsigned long long luma = 0;
    for (size_t i = 0; i < picture.size(); ++i) {
        const uchar4 q = toYcc(picture[i]);
        ok = ok && q.x == converted[i].x && q.y == converted[i].y && q.z == converted[i].z && q.w == converted[i].w;
        ++expected.histogram[largestError(picture[i], toRgb(q))];
        luma += converted[i].x;
    }
    printf("image %dx%d, luma sum %llu\nround-trip error:", width, height, luma);
    for (int e = 0; e < 8; ++e) {
        printf(" %u", found.histogram[e]);
        ok = ok && found.histogram[e] == expected.histogram[e];
    }
    printf("\n");
    return imagekit::report(ok);
}
