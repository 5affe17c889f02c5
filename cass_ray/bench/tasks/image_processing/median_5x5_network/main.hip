// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void gpuAssert(hipError_t code, const char* file, int line)
{
    if (code == hipSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", hipGetErrorName(code), file, line);
    exit(1);
}
#define CK(ans) gpuAssert((ans), __FILE__, __LINE__)

__device__ __forceinline__ void order(int& a, int& b)
{
    const int low = min(a, b);
    b = max(a, b);
    a = low;
}

// Moves the least of v[0..N) to the front and the greatest to the end, drops both, takes in one more.
template <int N>
struct Forget {
    static __device__ __forceinline__ int median(int* v, const int* rest)
    {
#pragma unroll
        for (int i = 0; i < N / 2; ++i) order(v[i], v[N - 1 - i]);
#pragma unroll
        for (int i = 1; i < (N + 1) / 2; ++i) order(v[0], v[i]);
#pragma unroll
        for (int i = N / 2; i < N - 1; ++i) order(v[i], v[N - 1]);
        v[0] = *rest;
        return Forget<N - 1>::median(v, rest + 1);
    }
};
template <>
struct Forget<3> {
    static __device__ __forceinline__ int median(int* v, const int*)
    {
        order(v[0], v[1]);
        order(v[1], v[2]);
        order(v[0], v[1]);
        return v[1];
    }
};

__global__ void __launch_bounds__(128) medians(const int* in, int* five, int* three, int width, int height)
{
    __shared__ int tile[8 + 4][16 + 4];
    const int x0 = blockIdx.x * 16 - 2, y0 = blockIdx.y * 8 - 2;
    for (int e = threadIdx.y * 16 + threadIdx.x; e < 12 * 20; e += 128) {
        const int x = min(max(x0 + e % 20, 0), width - 1), y = min(max(y0 + e / 20, 0), height - 1);
        tile[e / 20][e % 20] = in[y * width + x];
    }
    __syncthreads();
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width || y >= height) return;
    int w[25];
#pragma unroll
    for (int k = 0; k < 25; ++k) w[k] = tile[threadIdx.y + k / 5][threadIdx.x + k % 5];
    int nine[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) nine[k] = w[(k / 3 + 1) * 5 + k % 3 + 1];
    int extra[12];
#pragma unroll
    for (int k = 0; k < 11; ++k) extra[k] = w[14 + k];
    extra[11] = 0;
    five[y * width + x] = Forget<14>::median(w, extra);
    int more[4] = { nine[6], nine[7], nine[8], 0 };
    three[y * width + x] = Forget<6>::median(nine, more);
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 80, height = argc > 2 ? atoi(argv[2]) : 60;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 3u;
    if (width < 1 || height < 1) return 1;
    const int n = width * height;
    std::vector<int> image(n), r5(n), r3(n);
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        image[i] = (s >> 29) == 0 ? (s >> 20 & 1 ? 4095 : 0) : (int)(s >> 24) + 8 * (i % width);
    }
    int *di, *d5, *d3;
    CK(hipMalloc(&di, n * sizeof(int)));
    CK(hipMalloc(&d5, n * sizeof(int)));
    CK(hipMalloc(&d3, n * sizeof(int)));
    CK(hipMemcpy(di, image.data(), n * sizeof(int), hipMemcpyHostToDevice));
    medians<<<dim3((width + 15) / 16, (height + 7) / 8), dim3(16, 8)>>>(di, d5, d3, width, height);
    CK(hipGetLastError());
    CK(hipMemcpy(r5.data(), d5, n * sizeof(int), hipMemcpyDeviceToHost));
    CK(hipMemcpy(r3.data(), d3, n * sizeof(int), hipMemcpyDeviceToHost));
    int wrong = 0;
    long long sum5 = 0, sum3 = 0;
    unsigned fold = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int radius = 1; radius <= 2; ++radius) {
                std::vector<int> w;
                for (int v = y - radius; v <= y + radius; ++v)
                    for (int u = x - radius; u <= x + radius; ++u)
                        w.push_back(image[std::min(std::max(v, 0), height - 1) * width + std::min(std::max(u, 0), width - 1)]);
                std::nth_element(w.begin(), w.begin() + w.size() / 2, w.end());
                const int got = (radius == 2 ? r5 : r3)[y * width + x];
                wrong += got != w[w.size() / 2];
                (radius == 2 ? sum5 : sum3) += got;
                fold = fold * 31u + (unsigned)got;
            }
    printf("%d x %d: sums %lld %lld fold %08x corner %d %d wrong %d\n", width, height, sum5, sum3, fold, r5[n - 1], r3[n - 1], wrong);
    CK(hipFree(di));
    CK(hipFree(d5));
    CK(hipFree(d3));
    return wrong ? 1 : 0;
}
