// SPDX-License-Identifier: MIT
// Generic two-pass reduction: one template serves sum, minimum, maximum and exclusive-or.
// Warps reduce with shuffles, the first warp of a block folds the partial results.
#include <cuda_runtime.h>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t e, const char* what, int line)
{
    if (e == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(e));
    exit(2);
}
#define CHECK(call) check((call), #call, __LINE__)

struct Sum {
    static __host__ __device__ long long identity() { return 0; }
    __host__ __device__ long long operator()(long long a, long long b) const { return a + b; }
};
struct Minimum {
    static __host__ __device__ long long identity() { return LLONG_MAX; }
    __host__ __device__ long long operator()(long long a, long long b) const { return b < a ? b : a; }
};
struct Maximum {
    static __host__ __device__ long long identity() { return LLONG_MIN; }
    __host__ __device__ long long operator()(long long a, long long b) const { return b > a ? b : a; }
};
struct Parity {
    static __host__ __device__ long long identity() { return 0; }
    __host__ __device__ long long operator()(long long a, long long b) const { return a ^ b; }
};

template <class Op>
__device__ long long warpReduce(long long v, Op op)
{
    for (int offset = 16; offset > 0; offset >>= 1)
        v = op(v, __shfl_down_sync(0xffffffffu, v, offset, 32));
    return v;
}

template <class Op, int kBlock>
__global__ void reduceKernel(const long long* in, int n, long long* out)
{
    __shared__ long long partial[kBlock / 32];
    const Op op{};
    long long v = Op::identity();
    for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock)
        v = op(v, in[i]);

    v = warpReduce(v, op);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < kBlock / 32 ? partial[threadIdx.x] : Op::identity();
        v = warpReduce(v, op);
        if (threadIdx.x == 0)
            out[blockIdx.x] = v;
    }
}

template <class Op>
bool reduceAndCompare(const char* name, const std::vector<long long>& host, const long long* device, long long* scratch)
{
    const int n = (int)host.size();
    const int blocks = 24;
    reduceKernel<Op, 256><<<blocks, 256>>>(device, n, scratch);
    reduceKernel<Op, 64><<<1, 64>>>(scratch, blocks, scratch + blocks);
    CHECK(cudaGetLastError());
    long long result;
    CHECK(cudaMemcpy(&result, scratch + blocks, sizeof result, cudaMemcpyDeviceToHost));
    long long expected = Op::identity();
    for (long long v : host)
        expected = Op{}(expected, v);
    printf("%-8s %lld\n", name, result);
    return result == expected;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 50000;
    unsigned long long state = argc > 2 ? strtoull(argv[2], nullptr, 10) : 42;
    if (n <= 0)
        return 2;
    std::vector<long long> values(n);
    for (auto& v : values) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        v = (long long)(state >> 20) - (1ll << 43);
    }
    long long *input, *scratch;
    CHECK(cudaMalloc(&input, n * sizeof(long long)));
    CHECK(cudaMalloc(&scratch, 32 * sizeof(long long)));
    CHECK(cudaMemcpy(input, values.data(), n * sizeof(long long), cudaMemcpyHostToDevice));

    bool ok = reduceAndCompare<Sum>("sum", values, input, scratch);
    ok &= reduceAndCompare<Minimum>("min", values, input, scratch);
    ok &= reduceAndCompare<Maximum>("max", values, input, scratch);
    ok &= reduceAndCompare<Parity>("xor", values, input, scratch);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");

    CHECK(cudaFree(input));
    CHECK(cudaFree(scratch));
    return ok ? 0 : 1;
}
