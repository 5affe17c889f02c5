// SPDX-License-Identifier: MIT
// Brute-force k-nearest-neighbour search over quantised descriptors: the data base streams
// through shared memory, each query thread keeps a sorted list of its best matches.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define RUN(x)                                                                 \
    do {                                                                       \
        const cudaError_t e = (x);                                             \
        if (e != cudaSuccess) {                                                \
            fprintf(stderr, "knn: %s on line %d\n", cudaGetErrorString(e), __LINE__); \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

constexpr int kNeighbours = 4;
constexpr int kDims = 8;
constexpr int kThreads = 64;

struct alignas(8) Descriptor {
    unsigned char v[kDims];
};

__host__ __device__ inline unsigned distanceOf(const Descriptor& a, const Descriptor& b)
{
    unsigned sum = 0;
    for (int d = 0; d < kDims; ++d) {
        const int diff = (int)a.v[d] - (int)b.v[d];
        sum += (unsigned)(diff * diff);
    }
    return sum;
}

// Distance in the upper half, index in the lower: ties go to the smaller index.
typedef unsigned long long Match;

__global__ __launch_bounds__(kThreads) void search(const Descriptor* __restrict__ base, int n,
                                                   const Descriptor* __restrict__ queries, int q,
                                                   Match* __restrict__ out)
{
    __shared__ Descriptor tile[kThreads];
    const int query = blockIdx.x * kThreads + threadIdx.x;
    Descriptor mine = {};
    if (query < q)
        mine = queries[query];
    Match best[kNeighbours];
#pragma unroll
    for (int k = 0; k < kNeighbours; ++k)
        best[k] = ~0ull;
    for (int start = 0; start < n; start += kThreads) {
        if (start + (int)threadIdx.x < n)
            tile[threadIdx.x] = base[start + threadIdx.x];
        __syncthreads();
        const int count = min(kThreads, n - start);
        for (int i = 0; i < count; ++i) {
            Match candidate = (Match)distanceOf(mine, tile[i]) << 32 | (unsigned)(start + i);
#pragma unroll
            for (int k = 0; k < kNeighbours; ++k) {
                const Match smaller = candidate < best[k] ? candidate : best[k];
                candidate = candidate < best[k] ? best[k] : candidate;
                best[k] = smaller;
            }
        }
        __syncthreads();
    }
    if (query < q)
#pragma unroll
        for (int k = 0; k < kNeighbours; ++k)
            out[query * kNeighbours + k] = best[k];
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 700;
    const int q = argc > 2 ? atoi(argv[2]) : 128;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 15u;
    if (n < kNeighbours || q < 1)
        return 2;
    std::vector<Descriptor> base(n), queries(q);
    for (std::vector<Descriptor>* set : {&base, &queries})
        for (Descriptor& d : *set)
            for (unsigned char& v : d.v) {
                seed = seed * 1664525u + 1013904223u;
                v = (unsigned char)(seed >> 24);
            }
    Descriptor *dBase, *dQueries;
    Match* dOut;
    RUN(cudaMalloc(&dBase, n * sizeof(Descriptor)));
    RUN(cudaMalloc(&dQueries, q * sizeof(Descriptor)));
    RUN(cudaMalloc(&dOut, q * kNeighbours * sizeof(Match)));
    RUN(cudaMemcpy(dBase, base.data(), n * sizeof(Descriptor), cudaMemcpyHostToDevice));
    RUN(cudaMemcpy(dQueries, queries.data(), q * sizeof(Descriptor), cudaMemcpyHostToDevice));
    search<<<(q + kThreads - 1) / kThreads, kThreads>>>(dBase, n, dQueries, q, dOut);
    RUN(cudaGetLastError());
    std::vector<Match> found(q * kNeighbours), all(n);
    RUN(cudaMemcpy(found.data(), dOut, found.size() * sizeof(Match), cudaMemcpyDeviceToHost));

    bool ok = true;
    unsigned long long sum = 0;
    for (int i = 0; i < q; ++i) {
        for (int j = 0; j < n; ++j)
            all[j] = (Match)distanceOf(queries[i], base[j]) << 32 | (unsigned)j;
        std::partial_sort(all.begin(), all.begin() + kNeighbours, all.end());
        for (int k = 0; k < kNeighbours; ++k) {
            ok = ok && all[k] == found[i * kNeighbours + k];
            sum += found[i * kNeighbours + k] >> 32;
        }
    }
    printf("%d queries against %d descriptors, distance sum %llu\n", q, n, sum);
    printf("query 0:");
    for (int k = 0; k < kNeighbours; ++k)
        printf(" %u(%u)", (unsigned)found[k], (unsigned)(found[k] >> 32));
    printf("\nverify: %s\n", ok ? "OK" : "MISMATCH");
    RUN(cudaFree(dBase));
    RUN(cudaFree(dQueries));
    RUN(cudaFree(dOut));
    return ok ? 0 : 1;
}
