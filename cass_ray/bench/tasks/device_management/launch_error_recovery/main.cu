// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define gpuErrchk(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "CUDA failure %d at line %d: %s\n", (int)e_, __LINE__, cudaGetErrorString(e_)); \
    exit(3); } } while (0)

__global__ void rotateAdd(unsigned* v, int n, int by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = (v[i] << by | v[i] >> (32 - by)) + (unsigned)i;
}

static int attempt = 0;
static bool rejected(const char* what, cudaError_t status)
{
    const bool bad = status != cudaSuccess;
    printf("%d. %s: %s\n", ++attempt, what, bad ? "rejected" : "ACCEPTED");
    if (bad && (strlen(cudaGetErrorString(status)) == 0 || strlen(cudaGetErrorName(status)) == 0))
        printf("   but it has no text\n");
    (void)cudaGetLastError();
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
    gpuErrchk(cudaMalloc(&d, n * sizeof(unsigned)));
    gpuErrchk(cudaMemcpy(d, v.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    bool ok = true;

    rotateAdd<<<1, 4096>>>(d, n, 3);  // more threads than any device allows
    const cudaError_t peeked = cudaPeekAtLastError();
    const cudaError_t launch = cudaGetLastError();
    printf("peek keeps the error: %s\n", peeked == launch && launch != cudaSuccess ? "yes" : "no");
    printf("getting it clears it: %s\n", cudaGetLastError() == cudaSuccess ? "yes" : "no");
    ok = rejected("block of 4096 threads", launch) && ok;
    rotateAdd<<<dim3(1, 1, 1), dim3(8, 0, 8)>>>(d, n, 3);
    ok = rejected("block with an empty dimension", cudaGetLastError()) && ok;
    ok = rejected("negative device", cudaSetDevice(-1)) && ok;
    int count = 0;
    gpuErrchk(cudaGetDeviceCount(&count));
    ok = rejected("device beyond the last", cudaSetDevice(count + 5)) && ok;
    ok = rejected("null output of malloc", cudaMalloc((void**)nullptr, 16)) && ok;
    void* huge = nullptr;
    const cudaError_t tooMuch = cudaMalloc(&huge, (size_t)1 << 60);
    printf("running out of memory has its own code: %s\n", tooMuch == cudaErrorMemoryAllocation ? "yes" : "no");
    ok = rejected("an exbibyte", tooMuch) && huge == nullptr && ok;
    ok = rejected("copy with an unknown direction", cudaMemcpy(d, v.data(), 4, (cudaMemcpyKind)77)) && ok;
    printf("free of null: %s\n", cudaFree(nullptr) == cudaSuccess ? "fine" : "error");

    int blocks = (n + 127) / 128;
    for (int by = 1; by <= 5; by += 2) rotateAdd<<<blocks, 128>>>(d, n, by);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaDeviceSynchronize());
    std::vector<unsigned> result(n);
    gpuErrchk(cudaMemcpy(result.data(), d, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned fold = 0;
    for (int i = 0; i < n; ++i) {
        unsigned x = v[i];
        for (int by = 1; by <= 5; by += 2) x = (x << by | x >> (32 - by)) + (unsigned)i;
        ok = ok && x == result[i];
        fold = fold * 16777619u ^ result[i];
    }
    printf("still works: fold %08x, last %u\n", fold, result[n - 1]);
    printf("%s\n", ok ? "PASS" : "FAIL");
    gpuErrchk(cudaFree(d));
    return ok ? 0 : 1;
}
