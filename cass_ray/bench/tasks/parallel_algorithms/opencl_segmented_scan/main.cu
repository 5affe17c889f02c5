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

#define WIDTH 256

extern "C" __global__ void __launch_bounds__(WIDTH)
scan_groups(const unsigned* values, unsigned n, unsigned* scanned, unsigned* sums)
{
    __shared__ unsigned buffer[2][WIDTH];
    const unsigned lane = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned now = 0;
    buffer[0][lane] = i < n ? values[i] : 0;
    __syncthreads();
    for (unsigned distance = 1; distance < WIDTH; distance <<= 1) {
        const unsigned own = buffer[now][lane];
        buffer[1 - now][lane] = lane >= distance ? own + buffer[now][lane - distance] : own;
        now = 1 - now;
        __syncthreads();
    }
    if (i < n)
        scanned[i] = buffer[now][lane];
    if (lane == WIDTH - 1)
        sums[blockIdx.x] = buffer[now][lane];
}

extern "C" __global__ void scan_sums(unsigned* sums, unsigned groups)
{
    unsigned before = 0;
    for (unsigned g = 0; g < groups; ++g) {
        const unsigned own = sums[g];
        sums[g] = before;
        before += own;
    }
}

extern "C" __global__ void add_before(unsigned* scanned, const unsigned* sums, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        scanned[i] += sums[blockIdx.x];
}

int main(int argc, char** argv)
{
    const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 5000u;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 11u;
    std::vector<unsigned> values(n), scanned(n);
    for (unsigned& value : values)
        value = next(seed) % 100000u;
    const unsigned groups = (n + WIDTH - 1) / WIDTH;
    std::vector<unsigned> sums(groups);
    unsigned *dvalues = to_device(values), *dscanned = to_device(scanned), *dsums = to_device(sums);
    scan_groups<<<groups, WIDTH>>>(dvalues, n, dscanned, dsums);
    scan_sums<<<1, 1>>>(dsums, groups);
    add_before<<<groups, WIDTH>>>(dscanned, dsums, n);
    to_host(scanned, dscanned);
    to_host(sums, dsums);
    unsigned running = 0, wrong = 0;
    unsigned long long digest = 0;
    for (unsigned i = 0; i < n; ++i) {
        running += values[i];
        wrong += scanned[i] != running;
        digest = digest * 31 + scanned[i];
    }
    printf("n %u, groups %u, last %u, before the last group %u\n", n, groups, scanned[n - 1], sums[groups - 1]);
    printf("digest %llu, wrong %u\n", digest, wrong);
    return wrong != 0;
}
