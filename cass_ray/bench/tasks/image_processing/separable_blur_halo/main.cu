// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CALL(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "CUDA failure %d at line %d: %s\n", (int)e_, __LINE__, cudaGetErrorString(e_)); \
    exit(3); } } while (0)

__constant__ int weights[2][9] = { { 1, 4, 6, 4, 1, 0, 0, 0, 0 }, { 1, 8, 28, 56, 70, 56, 28, 8, 1 } };

static __host__ __device__ int mirror(int i, int n)
{
    if (n == 1) return 0;
    while (i < 0 || i >= n) i = i < 0 ? -i : 2 * n - 2 - i;
    return i;
}

template <int kRadius>
__global__ void blurRows(const int* in, int* out, int width, int height)
{
    __shared__ int row[4][64 + 2 * kRadius];
    const int x0 = blockIdx.x * 64, y = blockIdx.y * 4 + threadIdx.y;
    const int source = y < height ? y : height - 1;
    for (int i = threadIdx.x; i < 64 + 2 * kRadius; i += 64)
        row[threadIdx.y][i] = in[source * width + mirror(x0 + i - kRadius, width)];
    __syncthreads();
    const int x = x0 + threadIdx.x;
    if (x >= width || y >= height) return;
    int sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * kRadius; ++k) sum += weights[kRadius / 4][k] * row[threadIdx.y][threadIdx.x + k];
    out[y * width + x] = sum;
}

template <int kRadius>
__global__ void blurColumns(const int* in, int* out, int width, int height)
{
    __shared__ int column[16 + 2 * kRadius][16];
    const int x = blockIdx.x * 16 + threadIdx.x, y0 = blockIdx.y * 16;
    const int source = x < width ? x : width - 1;
    for (int i = threadIdx.y; i < 16 + 2 * kRadius; i += 16)
        column[i][threadIdx.x] = in[mirror(y0 + i - kRadius, height) * width + source];
    __syncthreads();
    const int y = y0 + threadIdx.y;
    if (x >= width || y >= height) return;
    int sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * kRadius; ++k) sum += weights[kRadius / 4][k] * column[threadIdx.y + k][threadIdx.x];
    const int shift = 4 * kRadius;
    out[y * width + x] = (sum + (1 << (shift - 1))) >> shift;
}

template <int kRadius>
static int run(const std::vector<int>& image, int width, int height)
{
    const int n = width * height;
    int *a, *b;
    CUDA_CALL(cudaMalloc(&a, n * sizeof(int)));
    CUDA_CALL(cudaMalloc(&b, n * sizeof(int)));
    CUDA_CALL(cudaMemcpy(a, image.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    blurRows<kRadius><<<dim3((width + 63) / 64, (height + 3) / 4), dim3(64, 4)>>>(a, b, width, height);
    blurColumns<kRadius><<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(b, a, width, height);
    CUDA_CALL(cudaGetLastError());
    std::vector<int> r(n);
    CUDA_CALL(cudaMemcpy(r.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost));
    const int binomial[2][9] = { { 1, 4, 6, 4, 1, 0, 0, 0, 0 }, { 1, 8, 28, 56, 70, 56, 28, 8, 1 } };
    int wrong = 0;
    long long sum = 0;
    unsigned fold = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            int e = 0;
            for (int v = 0; v <= 2 * kRadius; ++v)
                for (int u = 0; u <= 2 * kRadius; ++u)
                    e += binomial[kRadius / 4][v] * binomial[kRadius / 4][u] * image[mirror(y + v - kRadius, height) * width + mirror(x + u - kRadius, width)];
            e = (e + (1 << (4 * kRadius - 1))) >> (4 * kRadius);
            wrong += e != r[y * width + x];
            sum += r[y * width + x];
            fold = fold * 31u + (unsigned)r[y * width + x];
        }
    printf("radius %d: centre %d sum %lld fold %08x wrong %d\n", kRadius, r[height / 2 * width + width / 2], sum, fold, wrong);
    CUDA_CALL(cudaFree(a));
    CUDA_CALL(cudaFree(b));
    return wrong;
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 110, height = argc > 2 ? atoi(argv[2]) : 75;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 9u;
    if (width < 1 || height < 1) return 1;
    std::vector<int> image(width * height);
    for (int& v : image) {
        s = s * 1664525u + 1013904223u;
        v = (int)(s >> 20);
    }
    const int wrong = run<2>(image, width, height) + run<4>(image, width, height);
    printf("%s\n", wrong ? "FAILED" : "ok");
    return wrong ? 1 : 0;
}
