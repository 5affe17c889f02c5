// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// The kernels are the CUDA twins of those in kernel.cl, which this task is about.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "CUDA failure %d at line %d: %s\n", (int)e_, __LINE__, cudaGetErrorString(e_)); \
    exit(3); } } while (0)

template <typename T>
static T* to_device(const std::vector<T>& values)
{
    T* pointer = nullptr;
    CHECK(cudaMalloc((void**)&pointer, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return pointer;
}

template <typename T>
static void to_host(std::vector<T>& values, const T* pointer)
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(values.data(), pointer, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
}

static unsigned next(unsigned& state)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static __device__ int4 pixel(const uchar4* image, int x, int y, int2 size)
{
    x = min(max(x, 0), size.x - 1);
    y = min(max(y, 0), size.y - 1);
    const uchar4 p = image[y * size.x + x];
    return make_int4(p.x, p.y, p.z, p.w);
}

static __device__ unsigned char strength(int gx, int gy)
{
    return (unsigned char)min((abs(gx) + abs(gy)) >> 1, 255);
}

extern "C" __global__ void sobel(const uchar4* image, int2 size, uchar4* edges)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size.x || y >= size.y)
        return;
    const int weight_x[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
    int gx[3] = {}, gy[3] = {};
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) {
            const int4 p = pixel(image, x + i - 1, y + j - 1, size);
            gx[0] += weight_x[j][i] * p.x;
            gx[1] += weight_x[j][i] * p.y;
            gx[2] += weight_x[j][i] * p.z;
            gy[0] += weight_x[i][j] * p.x;
            gy[1] += weight_x[i][j] * p.y;
            gy[2] += weight_x[i][j] * p.z;
        }
    edges[y * size.x + x] = make_uchar4(strength(gx[0], gy[0]), strength(gx[1], gy[1]),
                                        strength(gx[2], gy[2]), image[y * size.x + x].w);
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 61, height = argc > 2 ? atoi(argv[2]) : 43;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 5u;
    std::vector<uchar4> image(width * height), edges(width * height);
    for (int i = 0; i < width * height; ++i) {
        const unsigned noise = next(seed);
        const int x = i % width, y = i / width;
        image[i] = make_uchar4((unsigned char)(4 * x), (unsigned char)((x / 8 + y / 8) % 2 * 200),
                               (unsigned char)noise, (unsigned char)(noise >> 8));
    }
    uchar4 *dimage = to_device(image), *dedges = to_device(edges);
    const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    sobel<<<grid, block>>>(dimage, make_int2(width, height), dedges);
    to_host(edges, dedges);
    unsigned long long digest = 0, saturated = 0;
    for (const uchar4& p : edges) {
        digest = digest * 1000003 + (p.x | p.y << 8 | p.z << 16 | (unsigned)p.w << 24);
        saturated += (p.x == 255) + (p.y == 255) + (p.z == 255);
    }
    for (int i = 0; i < width * height; i += width * height / 5 + 1)
        printf("%d: %d %d %d %d\n", i, edges[i].x, edges[i].y, edges[i].z, edges[i].w);
    printf("digest %llu, saturated %llu\n", digest, saturated);
    return 0;
}
