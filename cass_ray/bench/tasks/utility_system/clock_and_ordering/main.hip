// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkHip(hipError_t code, const char* what, int line) {
    if (code != hipSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(code));
        exit(2);
    }
}
#define checkHipErrors(expr) checkHip((expr), #expr, __LINE__)

__device__ unsigned long long globalStamp;

__device__ __forceinline__ unsigned int readClock()
{
    return (unsigned int)clock64();
}

__device__ __forceinline__ unsigned long long readTimer()
{
    return (unsigned long long)wall_clock64();
}

// A chain of dependent steps (Collatz) between two readings of every clock.
__global__ void timedCollatz(unsigned first, int n, unsigned* steps, unsigned char* advanced)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const long long before = clock64();
    const unsigned short32 = readClock();
    const unsigned long long wallBefore = readTimer();
    unsigned long long v = first + (unsigned)i;
    unsigned count = 0;
    while (v != 1 && count < 5000) {
        v = (v & 1) ? 3 * v + 1 : v >> 1;
        ++count;
    }
    steps[i] = count;
    __threadfence();
    const long long after = clock64();
    const unsigned elapsed32 = readClock() - short32;
    const unsigned long long wallAfter = readTimer();
    advanced[i] = (unsigned char)((after != before) + 2 * (elapsed32 > 0u) + 4 * (wallAfter >= wallBefore));
    atomicMax(&globalStamp, wallAfter);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 3000;
    const unsigned first = 1u + (argc > 2 ? (unsigned)atoi(argv[2]) : 27u);
    if (n < 1) return 1;
    unsigned* ds;
    unsigned char* da;
    checkHipErrors(hipMalloc(&ds, n * sizeof(unsigned)));
    checkHipErrors(hipMalloc(&da, n));
    hipEvent_t start, stop;
    checkHipErrors(hipEventCreate(&start));
    checkHipErrors(hipEventCreate(&stop));
    checkHipErrors(hipEventRecord(start, 0));
    timedCollatz<<<(n + 127) / 128, 128>>>(first, n, ds, da);
    checkHipErrors(hipGetLastError());
    checkHipErrors(hipEventRecord(stop, 0));
    checkHipErrors(hipEventSynchronize(stop));
    float milliseconds = -1.0f;
    checkHipErrors(hipEventElapsedTime(&milliseconds, start, stop));
    std::vector<unsigned> steps(n);
    std::vector<unsigned char> advanced(n);
    unsigned long long stamp = 0;
    checkHipErrors(hipMemcpy(steps.data(), ds, n * sizeof(unsigned), hipMemcpyDeviceToHost));
    checkHipErrors(hipMemcpy(advanced.data(), da, n, hipMemcpyDeviceToHost));
    checkHipErrors(hipMemcpyFromSymbol(&stamp, HIP_SYMBOL(globalStamp), sizeof stamp));
    unsigned long long total = 0;
    int longest = 0, all = 7;
    for (int i = 0; i < n; ++i) {
        total += steps[i];
        if (steps[i] > steps[longest]) longest = i;
        all &= advanced[i];
    }
    printf("numbers %d from %u\n", n, first);
    printf("total steps %llu\n", total);
    printf("longest chain: %u with %u steps\n", first + longest, steps[longest]);
    printf("cycle counter changed: %s\n", all & 1 ? "always" : "not always");
    printf("short counter advanced: %s\n", all & 2 ? "always" : "not always");
    printf("timer never went back: %s\n", all & 4 ? "true" : "false");
    printf("event time not negative: %s\n", milliseconds >= 0.0f ? "true" : "false");
    printf("stamp set: %s\n", stamp != 0 ? "true" : "false");
    checkHipErrors(hipEventDestroy(start));
    checkHipErrors(hipEventDestroy(stop));
    checkHipErrors(hipFree(ds));
    checkHipErrors(hipFree(da));
    return all == 7 && stamp != 0 ? 0 : 1;
}
