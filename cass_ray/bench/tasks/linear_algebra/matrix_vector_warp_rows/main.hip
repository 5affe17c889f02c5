// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define checkHipErrors(call)                                                                  \
    do {                                                                             \
        hipError_t status = (call);                                                 \
        if (status != hipSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d: HIP error: %s\n", __FILE__, __LINE__,      \
                         hipGetErrorString(status));                                \
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
            sum += __shfl_down(sum, d);
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
    checkHipErrors(hipMalloc(&da, a.size() * sizeof(int)));
    checkHipErrors(hipMalloc(&dx, columns * sizeof(int)));
    checkHipErrors(hipMalloc(&dz, rows * sizeof(int)));
    checkHipErrors(hipMalloc(&dy, rows * sizeof(long long)));
    checkHipErrors(hipMalloc(&dw, columns * sizeof(long long)));
    checkHipErrors(hipMemcpy(da, a.data(), a.size() * sizeof(int), hipMemcpyHostToDevice));
    checkHipErrors(hipMemcpy(dx, x.data(), columns * sizeof(int), hipMemcpyHostToDevice));
    checkHipErrors(hipMemcpy(dz, z.data(), rows * sizeof(int), hipMemcpyHostToDevice));
    multiplyRows<<<9, 128>>>(da, dx, dy, rows, columns);
    multiplyColumns<<<(columns + 63) / 64, 64>>>(da, dz, dw, rows, columns);
    checkHipErrors(hipGetLastError());
    std::vector<long long> y(rows), w(columns);
    checkHipErrors(hipMemcpy(y.data(), dy, rows * sizeof(long long), hipMemcpyDeviceToHost));
    checkHipErrors(hipMemcpy(w.data(), dw, columns * sizeof(long long), hipMemcpyDeviceToHost));
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
    hipFree(da); hipFree(dx); hipFree(dz); hipFree(dy); hipFree(dw);
    return wrong || left != right;
}
