// SPDX-License-Identifier: MIT
// Triangle rasteriser with integer edge functions (top-left rule) and a depth buffer updated by
// a 64-bit atomicMin on packed depth and triangle number. One block draws one triangle.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef unsigned long long Fragment;  // depth in the upper half, triangle in the lower

#define CUDA_CHECK(x)                                                              \
    do {                                                                           \
        cudaError_t e = (x);                                                       \
        if (e != cudaSuccess) {                                                    \
            fprintf(stderr, "raster: %s (line %d)\n", cudaGetErrorString(e), __LINE__); \
            exit(2);                                                               \
        }                                                                          \
    } while (0)

struct Triangle {
    int x[3], y[3];  // counter-clockwise or clockwise, pixel units
    int z[3];        // 0 (near) .. 65535 (far)
};

// Positive inside. Pixels exactly on an edge belong to the triangle of which it is a top or left edge.
__host__ __device__ inline int edge(const Triangle& t, int a, int b, int px, int py)
{
    const int dx = t.x[b] - t.x[a], dy = t.y[b] - t.y[a];
    const int value = dx * (py - t.y[a]) - dy * (px - t.x[a]);
    const bool owns = dy < 0 || (dy == 0 && dx > 0);
    return value == 0 && !owns ? -1 : value;
}

__host__ __device__ inline bool shade(const Triangle& t, unsigned id, int px, int py, Fragment& out)
{
    const int area = (t.x[1] - t.x[0]) * (t.y[2] - t.y[0]) - (t.y[1] - t.y[0]) * (t.x[2] - t.x[0]);
    if (area == 0)
        return false;
    const int second = area > 0 ? 1 : 2, third = 3 - second;  // orient consistently
    const int w0 = edge(t, second, third, px, py), w1 = edge(t, third, 0, px, py), w2 = edge(t, 0, second, px, py);
    if (w0 < 0 || w1 < 0 || w2 < 0)
        return false;
    const long long weighted = (long long)w0 * t.z[0] + (long long)w1 * t.z[second] + (long long)w2 * t.z[third];
    const unsigned depth = (unsigned)(weighted / (area > 0 ? area : -area));
    out = (Fragment)depth << 32 | id;
    return true;
}

__global__ void drawTriangles(const Triangle* triangles, Fragment* buffer, int w, int h)
{
    __shared__ Triangle t;
    __shared__ int box[4];
    if (threadIdx.x == 0) {
        t = triangles[blockIdx.x];
        box[0] = max(min(min(t.x[0], t.x[1]), t.x[2]), 0);
        box[1] = min(max(max(t.x[0], t.x[1]), t.x[2]), w - 1);
        box[2] = max(min(min(t.y[0], t.y[1]), t.y[2]), 0);
        box[3] = min(max(max(t.y[0], t.y[1]), t.y[2]), h - 1);
    }
    __syncthreads();
    const int columns = box[1] - box[0] + 1, rows = box[3] - box[2] + 1;
    if (columns <= 0 || rows <= 0)
        return;
    for (int i = threadIdx.x; i < columns * rows; i += blockDim.x) {
        const int px = box[0] + i % columns, py = box[2] + i / columns;
        Fragment f;
        if (shade(t, blockIdx.x, px, py, f))
            atomicMin(&buffer[py * w + px], f);
    }
}

int main(int argc, char** argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 60;
    const int w = argc > 2 ? atoi(argv[2]) : 120, h = argc > 3 ? atoi(argv[3]) : 80;
    unsigned seed = argc > 4 ? (unsigned)atoi(argv[4]) : 19u;
    if (count < 1 || w < 1 || h < 1 || w > 4096 || h > 4096)
        return 2;
    auto draw = [&seed](int range) {
        seed = seed * 1664525u + 1013904223u;
        return (int)((seed >> 8) % (unsigned)range);
    };
    std::vector<Triangle> triangles(count);
    for (Triangle& t : triangles) {
        const int cx = draw(w), cy = draw(h);
        for (int k = 0; k < 3; ++k) {
            t.x[k] = cx + draw(41) - 20;
            t.y[k] = cy + draw(41) - 20;
            t.z[k] = draw(65536);
        }
    }
    Triangle* dTriangles;
    Fragment* dBuffer;
    CUDA_CHECK(cudaMalloc(&dTriangles, count * sizeof(Triangle)));
    CUDA_CHECK(cudaMalloc(&dBuffer, w * h * sizeof(Fragment)));
    CUDA_CHECK(cudaMemset(dBuffer, 0xff, w * h * sizeof(Fragment)));
    CUDA_CHECK(cudaMemcpy(dTriangles, triangles.data(), count * sizeof(Triangle), cudaMemcpyHostToDevice));
    drawTriangles<<<count, 64>>>(dTriangles, dBuffer, w, h);
    CUDA_CHECK(cudaGetLastError());
    std::vector<Fragment> buffer(w * h), expected(w * h, ~0ull);
    CUDA_CHECK(cudaMemcpy(buffer.data(), dBuffer, w * h * sizeof(Fragment), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(dTriangles));
    CUDA_CHECK(cudaFree(dBuffer));

    for (int id = 0; id < count; ++id)
        for (int py = 0; py < h; ++py)
            for (int px = 0; px < w; ++px) {
                Fragment f;
                if (shade(triangles[id], (unsigned)id, px, py, f))
                    expected[py * w + px] = std::min(expected[py * w + px], f);
            }
    std::vector<int> visible(count, 0);
    int covered = 0, seen = 0;
    for (Fragment f : buffer)
        if (f != ~0ull) {
            ++covered;
            ++visible[(unsigned)f];
        }
    for (int v : visible)
        seen += v > 0;
    for (int x = 0; x < w && x < 72; ++x) {
        const Fragment f = buffer[h / 2 * w + x];
        putchar(f == ~0ull ? '.' : 'A' + (int)((unsigned)f % 26u));
    }
    printf("\n%d triangles, %d visible, %d of %d pixels covered\n", count, seen, covered, w * h);
    const bool ok = buffer == expected;
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
