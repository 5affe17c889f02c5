// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define gpuErrchk(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

__global__ void rotateAdd(unsigned* v, int n, int by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = (v[i] << by | v[i] >> (32 - by)) + (unsigned)i;
}

static int attempt = 0;
static bool rejected(const char* what, hipError_t status)
{
    const bool bad = status != hipSuccess;
    printf("%d. %s: %s\n", ++attempt, what, bad ? "rejected" : "ACCEPTED");
    if (bad && (strlen(hipGetErrorString(status)) == 0 || strlen(hipGetErrorName(status)) == 0))
        printf("   but it has no text\n");
    (void)hipGetLastError();
    return bad;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 3000;
    unsigned s = argc > 2 ? (unsigned)atoi(argv[2]) : 21u;
    if (n < 1) return 1;
    std::vector<unsigned> v(n), expected(n);
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        v[i] = s;
    }
    unsigned* d;
    gpuErrchk(hipMalloc(&d, n * sizeof(unsigned)));
    gpuErrchk(hipMemcpy(d, v.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
    bool ok = true;

    rotateAdd<<<1, 4096>>>(d, n, 3);  // more threads than any device allows
    const hipError_t peeked = hipPeekAtLastError();
    const hipError_t launch = hipGetLastError();
    printf("peek keeps the error: %s\n", peeked == launch && launch != hipSuccess ? "yes" : "no");
    printf("getting it clears it: %s\n", hipGetLastError() == hipSuccess ? "yes" : "no");
    ok = rejected("block of 4096 threads", launch) && ok;
    rotateAdd<<<dim3(1, 1, 1), dim3(8, 0, 8)>>>(d, n, 3);
    ok = rejected("block with an empty dimension", hipGetLastError()) && ok;
    ok = rejected("negative device", hipSetDevice(-1)) && ok;
    int count = 0;
    gpuErrchk(hipGetDeviceCount(&count));
    ok = rejected("device beyond the last", hipSetDevice(count + 5)) && ok;
    ok = rejected("null output of malloc", hipMalloc((void**)nullptr, 16)) && ok;
    void* huge = nullptr;
    const hipError_t tooMuch = hipMalloc(&huge, (size_t)1 << 60);
    printf("running out of memory has its own code: %s\n", tooMuch == hipErrorMemoryAllocation ? "yes" : "no");
    ok = rejected("an exbibyte", tooMuch) && huge == nullptr && ok;
    ok = rejected("copy with an unknown direction", hipMemcpy(d, v.data(), 4, (hipMemcpyKind)77)) && ok;
    printf("free of null: %s\n", hipFree(nullptr) == hipSuccess ? "fine" : "error");

    int blocks = (n + 127) / 128;
    for (int by = 1; by <= 5; by += 2) rotateAdd<<<blocks, 128>>>(d, n, by);
    gpuErrchk(hipGetLastError());
    gpuErrchk(hipDeviceSynchronize());
    std::vector<unsigned> result(n);
    gpuErrchk(hipMemcpy(result.data(), d, n * sizeof(unsigned), hipMemcpyDeviceToHost));
    unsigned fold = 0;
    for (int i = 0; i < n; ++i) {
        unsigned x = v[i];
        for (int by = 1; by <= 5; by += 2) x = (x << by | x >> (32 - by)) + (unsigned)i;
        ok = ok && x == result[i];
        fold = fold * 16777619u ^ result[i];
    }
    printf("still works: fold %08x, last %u\n", fold, result[n - 1]);
    printf("%s\n", ok ? "PASS" : "FAIL");
    gpuErrchk(hipFree(d));
    return ok ? 0 : 1;
}
