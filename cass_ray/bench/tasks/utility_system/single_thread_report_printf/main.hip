// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void gpuAssert(hipError_t code, const char* file, int line)
{
    if (code == hipSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", hipGetErrorName(code), file, line);
    exit(1);
}
#define HIP_CALL(ans) gpuAssert((ans), __FILE__, __LINE__)

__device__ int greatestCommonDivisor(int a, int b)
{
    return b == 0 ? a : greatestCommonDivisor(b, a % b);
}

__global__ void report(const int* values, int n)
{
    __shared__ int squares[256];
    const int t = threadIdx.x;
    if (t < n)
        squares[t] = values[t] * values[t];
    __syncthreads();
    if (t != 0)
        return;
    long long sum = 0, sumOfSquares = 0;
    int gcd = 0;
    for (int i = 0; i < n; ++i) {
        sum += values[i];
        sumOfSquares += squares[i];
        gcd = greatestCommonDivisor(gcd, abs(values[i]));
    }
    printf("n=%d sum=%lld squares=%llu\n", n, sum, (unsigned long long)sumOfSquares);
    printf("gcd %5d|%-5d|%05d hex %08x %X\n", gcd, gcd, gcd, (unsigned)values[0], (unsigned)sumOfSquares);
    printf("quarter mean %.2f, char %c, percent %%, text %s\n", (double)(sum / n) * 0.25, (char)('A' + n % 26), n % 2 ? "odd" : "even");
    for (int i = 0; i < n && i < 5; ++i)
        printf("  values[%d] = %+d\n", i, values[i]);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 24;
    unsigned s = argc > 2 ? (unsigned)atoi(argv[2]) : 77u;
    if (n < 1 || n > 256) return 1;
    std::vector<int> v(n);
    for (int i = 0; i < n; ++i) {
        s = s * 69069u + 1u;
        v[i] = ((int)(s >> 16 & 0x7ff) - 1000) * 6;
    }
    int* d;
    HIP_CALL(hipMalloc(&d, n * sizeof(int)));
    HIP_CALL(hipMemcpy(d, v.data(), n * sizeof(int), hipMemcpyHostToDevice));
    report<<<1, 256>>>(d, n);
    HIP_CALL(hipGetLastError());
    HIP_CALL(hipDeviceSynchronize());
    HIP_CALL(hipFree(d));
    printf("host: done\n");
    return 0;
}
