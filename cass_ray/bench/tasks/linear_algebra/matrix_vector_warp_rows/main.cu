// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define checkCudaErrors(call)                                                                  \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d: CUDA error: %s\n", __FILE__, __LINE__,      \
                         cudaGetErrorString(status));                                \
            std::exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

__global__ void multiplyRows(const int* a, const int* x, long long* y, int rows, int columns)
{
    const int lane = threadIdx.x % warpSize;
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    const int warps = gridDim.x * blockDim.x / warpSize;
    for (int r = warp; r < rows; r += warps) {
        long long sum = 0;
        for (int c = lane; c < columns; c += warpSize)
            sum += (long long)a[(size_t)r * columns + c] * x[c];
        for (int d = warpSize / 2; d > 0; d /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (lane == 0)
            y[r] = sum;
    }
}

__global__ void multiplyColumns(const int* a, const int* x, long long* y, int rows, int columns)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    long long sum = 0;
    for (int r = 0; r < rows; ++r) sum += (long long)a[(size_t)r * columns + c] * x[r];
    y[c] = sum;
}

int main(int argc, char** argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 150, columns = argc > 2 ? atoi(argv[2]) : 301;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 3u;
    if (rows < 1 || columns < 1) return 1;
    auto next = [&s]() { s = s * 1664525u + 1013904223u; return (int)(s >> 12) - 524288; };
    std::vector<int> a((size_t)rows * columns), x(columns), z(rows);
    for (int& v : a) v = next();
    for (int& v : x) v = next();
    for (int& v : z) v = next();
    int *da, *dx, *dz;
    long long *dy, *dw;
    checkCudaErrors(cudaMalloc(&da, a.size() * sizeof(int)));
    checkCudaErrors(cudaMalloc(&dx, columns * sizeof(int)));
    checkCudaErrors(cudaMalloc(&dz, rows * sizeof(int)));
    checkCudaErrors(cudaMalloc(&dy, rows * sizeof(long long)));
    checkCudaErrors(cudaMalloc(&dw, columns * sizeof(long long)));
    checkCudaErrors(cudaMemcpy(da, a.data(), a.size() * sizeof(int), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(dx, x.data(), columns * sizeof(int), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(dz, z.data(), rows * sizeof(int), cudaMemcpyHostToDevice));
    multiplyRows<<<9, 128>>>(da, dx, dy, rows, columns);
    multiplyColumns<<<(columns + 63) / 64, 64>>>(da, dz, dw, rows, columns);
    checkCudaErrors(cudaGetLastError());
    std::vector<long long> y(rows), w(columns);
    checkCudaErrors(cudaMemcpy(y.data(), dy, rows * sizeof(long long), cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(w.data(), dw, columns * sizeof(long long), cudaMemcpyDeviceToHost));
    // z . (A x) = (z A) . x, modulo 2^64
    unsigned long long left = 0, right = 0, fold = 0;
    int wrong = 0;
    for (int r = 0; r < rows; ++r) {
        long long e = 0;
        for (int c = 0; c < columns; ++c) e += (long long)a[(size_t)r * columns + c] * x[c];
        wrong += e != y[r];
        left += (unsigned long long)z[r] * (unsigned long long)y[r];
        fold = fold * 31 + (unsigned long long)y[r];
    }
    for (int c = 0; c < columns; ++c) {
        right += (unsigned long long)x[c] * (unsigned long long)w[c];
        fold = fold * 37 + (unsigned long long)w[c];
    }
    printf("%d x %d\ny[0] %lld y[last] %lld\nw[0] %lld w[last] %lld\n", rows, columns, y[0], y[rows - 1], w[0], w[columns - 1]);
    printf("bilinear form %llu %s\nfold %016llx\nwrong %d\n", left, left == right ? "both ways" : "DIFFERS", fold, wrong);
    cudaFree(da); cudaFree(dx); cudaFree(dz); cudaFree(dy); cudaFree(dw);
    return wrong || left != right;
}
