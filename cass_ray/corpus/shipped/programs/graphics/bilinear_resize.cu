// SPDX-License-Identifier: MIT
// Bilinear resampling of RGBA images with 16.16 fixed-point coordinates on pitched buffers.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define PITCHED_CHECK(call)                                                          \
    do {                                                                             \
        cudaError_t rc = (call);                                                     \
        if (rc != cudaSuccess) {                                                     \
            fprintf(stderr, "resize line %d: %s\n", __LINE__, cudaGetErrorString(rc)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

struct Image {
    uchar4* data;
    size_t pitch;  // bytes
    int width, height;

    __host__ __device__ uchar4& at(int x, int y) const { return *(uchar4*)((char*)data + (size_t)y * pitch + (size_t)x * 4); }
};

__host__ __device__ inline unsigned char blend(unsigned a, unsigned b, unsigned c, unsigned d, unsigned fx, unsigned fy)
{
    const unsigned top = a * (256u - fx) + b * fx, bottom = c * (256u - fx) + d * fx;
    return (unsigned char)((top * (256u - fy) + bottom * fy + 32768u) >> 16);
}

__host__ __device__ inline uchar4 sample(const Image& in, int x, int y, int outWidth, int outHeight)
{
    // Pixel centres are aligned; coordinates are clamped to the source.
    long long u = ((2LL * x + 1) * in.width * 32768) / outWidth - 32768;
    long long v = ((2LL * y + 1) * in.height * 32768) / outHeight - 32768;
    u = u < 0 ? 0 : u;
    v = v < 0 ? 0 : v;
    const int x0 = (int)(u >> 16), y0 = (int)(v >> 16);
    const int x1 = x0 + 1 < in.width ? x0 + 1 : in.width - 1, y1 = y0 + 1 < in.height ? y0 + 1 : in.height - 1;
    const unsigned fx = (unsigned)(u >> 8) & 255u, fy = (unsigned)(v >> 8) & 255u;
    const uchar4 a = in.at(x0, y0), b = in.at(x1, y0), c = in.at(x0, y1), d = in.at(x1, y1);
    return make_uchar4(blend(a.x, b.x, c.x, d.x, fx, fy), blend(a.y, b.y, c.y, d.y, fx, fy),
                       blend(a.z, b.z, c.z, d.z, fx, fy), blend(a.w, b.w, c.w, d.w, fx, fy));
}

__global__ void resize(Image in, Image out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < out.width && y < out.height)
        out.at(x, y) = sample(in, x, y, out.width, out.height);
}

int main(int argc, char** argv)
{
    const int w = argc > 1 ? atoi(argv[1]) : 90, h = argc > 2 ? atoi(argv[2]) : 60;
    const int ow = argc > 3 ? atoi(argv[3]) : 143, oh = argc > 4 ? atoi(argv[4]) : 77;
    if (w < 1 || h < 1 || ow < 1 || oh < 1)
        return 2;
    std::vector<uchar4> source(w * h), target(ow * oh);
    unsigned seed = 1234u;
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
            seed = seed * 1664525u + 1013904223u;
            source[y * w + x] = make_uchar4((unsigned char)(x * 255 / w), (unsigned char)(y * 255 / h),
                                            (unsigned char)(seed >> 24), (unsigned char)((x ^ y) & 255));
        }
    Image in{nullptr, 0, w, h}, out{nullptr, 0, ow, oh};
    PITCHED_CHECK(cudaMallocPitch((void**)&in.data, &in.pitch, w * sizeof(uchar4), h));
    PITCHED_CHECK(cudaMallocPitch((void**)&out.data, &out.pitch, ow * sizeof(uchar4), oh));
    PITCHED_CHECK(cudaMemcpy2D(in.data, in.pitch, source.data(), w * sizeof(uchar4), w * sizeof(uchar4), h,
                               cudaMemcpyHostToDevice));
    resize<<<dim3((ow + 31) / 32, (oh + 3) / 4), dim3(32, 4)>>>(in, out);
    PITCHED_CHECK(cudaGetLastError());
    PITCHED_CHECK(cudaMemcpy2D(target.data(), ow * sizeof(uchar4), out.data, out.pitch, ow * sizeof(uchar4), oh,
                               cudaMemcpyDeviceToHost));

    const Image hostIn{source.data(), w * sizeof(uchar4), w, h};
    int wrong = 0;
    unsigned hash = 0;
    unsigned long long channel[4] = {};
    for (int y = 0; y < oh; ++y)
        for (int x = 0; x < ow; ++x) {
            const uchar4 e = sample(hostIn, x, y, ow, oh), g = target[y * ow + x];
            wrong += e.x != g.x || e.y != g.y || e.z != g.z || e.w != g.w;
            hash = hash * 16777619u ^ (g.x | g.y << 8 | g.z << 16 | (unsigned)g.w << 24);
            channel[0] += g.x;
            channel[1] += g.y;
            channel[2] += g.z;
            channel[3] += g.w;
        }
    printf("%dx%d resized to %dx%d\n", w, h, ow, oh);
    printf("channel sums %llu %llu %llu %llu, hash %08x\n", channel[0], channel[1], channel[2], channel[3], hash);
    printf("verify: %s\n", wrong ? "MISMATCH" : "OK");
    PITCHED_CHECK(cudaFree(in.data));
    PITCHED_CHECK(cudaFree(out.data));
    return wrong ? 1 : 0;
}
