// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

// y[i] = a * x[i] + y[i]; every value is a small integer, so the floats are exact.
__global__ void saxpy(int n, float a, const float* x, float* y)
{
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 20000;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 42u;
    if (n <= 0) {
        fprintf(stderr, "usage: %s [n > 0] [seed]\n", argv[0]);
        return 1;
    }
    std::vector<float> x(n), y(n), result(n);
    for (int i = 0; i < n; ++i) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)((int)(seed >> 20) - 2048);
        seed = seed * 1664525u + 1013904223u;
        y[i] = (float)((int)(seed >> 20) - 2048);
    }
    const float a = (float)(3 + seed % 11);

    float *dx = nullptr, *dy = nullptr;
    const size_t bytes = n * sizeof(float);
    CHECK(hipMalloc((void**)&dx, bytes));
    CHECK(hipMalloc((void**)&dy, bytes));
    CHECK(hipMemcpy(dx, x.data(), bytes, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(dy, y.data(), bytes, hipMemcpyHostToDevice));
    const int block = 256;
    const int grid = (n / 3 + block - 1) / block + 1;  // fewer threads than elements
    saxpy<<<grid, block>>>(n, a, dx, dy);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    CHECK(hipMemcpy(result.data(), dy, bytes, hipMemcpyDeviceToHost));

    long long sum = 0;
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        sum += (long long)result[i] * (i % 13 + 1);
        if (result[i] != a * x[i] + y[i])
            ++wrong;
    }
    printf("n = %d, a = %.0f\n", n, a);
    for (int i = 0; i < n; i += n / 5 + 1)
        printf("y[%d] = %.0f\n", i, result[i]);
    printf("last = %.0f\n", result[n - 1]);
    printf("weighted sum = %lld\n", sum);
    printf("wrong = %d\n", wrong);
    CHECK(hipFree(dx));
    CHECK(hipFree(dy));
    return wrong ? 1 : 0;
}
