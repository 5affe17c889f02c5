// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

inline void gpuAssert(cudaError_t code, const char* file, int line)
{
    if (code == cudaSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", cudaGetErrorName(code), file, line);
    exit(1);
}
#define CK(ans) gpuAssert((ans), __FILE__, __LINE__)

__global__ void digitSums(const unsigned* in, int n, unsigned* out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned v = in[i], sum = 0;
        while (v) {
            sum += v % 10u;
            v /= 10u;
        }
        out[i] = sum;
    }
}

static const char* yesNo(bool b) { return b ? "yes" : "no"; }

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 5000;
    unsigned s = argc > 2 ? (unsigned)atoi(argv[2]) : 1u;
    if (n < 1) return 1;
    int count = 0, device = -1;
    CK(cudaGetDeviceCount(&count));
    CK(cudaSetDevice(0));
    CK(cudaGetDevice(&device));
    cudaDeviceProp prop;
    CK(cudaGetDeviceProperties(&prop, device));
    int warp = 0, threads = 0, processors = 0, shared = 0;
    CK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device));
    CK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device));
    CK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlock, device));
    size_t freeBytes = 0, totalBytes = 0;
    CK(cudaMemGetInfo(&freeBytes, &totalBytes));
    int runtime = 0, driver = 0;
    CK(cudaRuntimeGetVersion(&runtime));
    CK(cudaDriverGetVersion(&driver));
    printf("at least one device: %s, current device %d\n", yesNo(count >= 1), device);
    printf("has a name: %s\n", yesNo(strlen(prop.name) > 0));
    printf("attributes agree: %s\n", yesNo(warp == prop.warpSize && threads == prop.maxThreadsPerBlock &&
                                           processors == prop.multiProcessorCount && (size_t)shared == prop.sharedMemPerBlock));
    printf("warp size is a power of two: %s\n", yesNo(warp > 0 && (warp & (warp - 1)) == 0));
    printf("block of 1024: %s, 32 KiB shared: %s\n", yesNo(threads >= 1024), yesNo(shared >= 32768));
    printf("block divisible by warp: %s\n", yesNo(threads % warp == 0));
    printf("grid allows 65535 in x and y: %s\n", yesNo(prop.maxGridSize[0] >= 65535 && prop.maxGridSize[1] >= 65535));
    printf("free memory within total: %s\n", yesNo(freeBytes <= totalBytes && totalBytes > 0));
    printf("versions known: %s\n", yesNo(runtime > 0 && driver > 0));

    std::vector<unsigned> in(n), out(n);
    for (unsigned& v : in) {
        s = s * 1664525u + 1013904223u;
        v = s;
    }
    unsigned *di, *dout;
    CK(cudaMalloc(&di, n * sizeof(unsigned)));
    CK(cudaMalloc(&dout, n * sizeof(unsigned)));
    CK(cudaMemcpy(di, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    digitSums<<<2, threads>>>(di, n, dout);
    CK(cudaGetLastError());
    CK(cudaMemcpy(out.data(), dout, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned long long total = 0;
    unsigned most = 0;
    for (unsigned v : out) {
        total += v;
        if (v > most) most = v;
    }
    bool ok = true;
    for (int i = 0; i < n; ++i) ok = ok && out[i] % 9u == in[i] % 9u;
    printf("digit sums: total %llu, largest %u, casting out nines %s\n", total, most, ok ? "ok" : "FAILED");
    CK(cudaFree(di));
    CK(cudaFree(dout));
    CK(cudaDeviceReset());
    return ok ? 0 : 1;
}
