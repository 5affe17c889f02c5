// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// The kernels are the CUDA twins of those in kernel.cl, which this task is about.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "CUDA failure %d at line %d: %s\n", (int)e_, __LINE__, cudaGetErrorString(e_)); \
    exit(3); } } while (0)

template <typename T>
static T* to_device(const std::vector<T>& values)
{
    T* pointer = nullptr;
    CHECK(cudaMalloc((void**)&pointer, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return pointer;
}

template <typename T>
static void to_host(std::vector<T>& values, const T* pointer)
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(values.data(), pointer, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
}

static unsigned next(unsigned& state)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

#define BINS 64

extern "C" __global__ void histogram(const unsigned* values, unsigned n, unsigned* bins, int* extremes)
{
    __shared__ unsigned own[BINS];
    __shared__ int low, high;
    for (unsigned b = threadIdx.x; b < BINS; b += blockDim.x)
        own[b] = 0;
    if (threadIdx.x == 0) {
        low = 2147483647;
        high = -2147483647 - 1;
    }
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned value = values[i], mixed = value * 2654435761u;
        atomicAdd(&own[(mixed << 6 | mixed >> 26) % BINS], 1u);
        atomicMin(&low, (int)value);
        atomicMax(&high, (int)value);
    }
    __syncthreads();
    for (unsigned b = threadIdx.x; b < BINS; b += blockDim.x)
        if (own[b] != 0)
            atomicAdd(&bins[b], own[b]);
    if (threadIdx.x == 0) {
        atomicMin(&extremes[0], low);
        atomicMax(&extremes[1], high);
    }
}

int main(int argc, char** argv)
{
    const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 20000u;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 3u;
    std::vector<unsigned> values(n), bins(BINS);
    for (unsigned& value : values)
        value = next(seed) * 397u;
    std::vector<int> extremes = {2147483647, -2147483647 - 1};
    unsigned *dvalues = to_device(values), *dbins = to_device(bins);
    int* dextremes = to_device(extremes);
    histogram<<<7, 192>>>(dvalues, n, dbins, dextremes);
    to_host(bins, dbins);
    to_host(extremes, dextremes);
    unsigned total = 0;
    for (unsigned b = 0; b < BINS; ++b) {
        total += bins[b];
        printf("%u%c", bins[b], b % 16 == 15 ? '\n' : ' ');
    }
    printf("total %u of %u, from %d to %d\n", total, n, extremes[0], extremes[1]);
    return total != n;
}
