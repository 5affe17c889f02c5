// SPDX-License-Identifier: MIT
// Level-synchronous breadth-first search on a CSR graph. New vertices are claimed with
// atomicCAS on their level and appended to the next frontier through a block-local queue.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <utility>
#include <vector>

#define RT(call)                                                                         \
    do {                                                                                 \
        cudaError_t rc = (call);                                                         \
        if (rc != cudaSuccess) {                                                         \
            fprintf(stderr, "runtime error: %s (line %d)\n", cudaGetErrorString(rc), __LINE__); \
            exit(2);                                                                     \
        }                                                                                \
    } while (0)

constexpr int kBlock = 128;
constexpr int kQueue = 512;

struct Csr {
    const int* offset;
    const int* target;
};

__global__ void expand(Csr graph, const int* frontier, int size, int depth, int* level, int* next, int* nextSize)
{
    __shared__ int queue[kQueue];
    __shared__ int queued, base;
    if (threadIdx.x == 0)
        queued = 0;
    __syncthreads();

    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (i < size) {
        const int v = frontier[i];
        for (int e = graph.offset[v]; e < graph.offset[v + 1]; ++e) {
            const int w = graph.target[e];
            if (atomicCAS(&level[w], -1, depth + 1) == -1) {
                const int slot = atomicAdd(&queued, 1);
                if (slot < kQueue)
                    queue[slot] = w;
                else
                    next[atomicAdd(nextSize, 1)] = w;  // local queue is full
            }
        }
    }
    __syncthreads();
    const int local = min(queued, kQueue);
    if (threadIdx.x == 0)
        base = atomicAdd(nextSize, local);
    __syncthreads();
    for (int k = threadIdx.x; k < local; k += kBlock)
        next[base + k] = queue[k];
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 6000;
    const int degree = argc > 2 ? atoi(argv[2]) : 4;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 6u;
    if (n < 2 || degree < 1)
        return 2;

    // Mostly local edges with a few long ones, so that the search has many levels.
    std::vector<int> offset(n + 1, 0), target;
    for (int v = 0; v < n; ++v) {
        for (int d = 0; d < degree; ++d) {
            seed = seed * 1664525u + 1013904223u;
            const int span = (seed >> 28) == 0 ? n : 40;
            target.push_back((int)(((long long)v + (seed >> 9) % (unsigned)span) % n));
        }
        offset[v + 1] = (int)target.size();
    }

    int *dOffset, *dTarget, *level, *frontier, *next, *nextSize;
    RT(cudaMalloc(&dOffset, offset.size() * sizeof(int)));
    RT(cudaMalloc(&dTarget, target.size() * sizeof(int)));
    RT(cudaMalloc(&level, n * sizeof(int)));
    RT(cudaMalloc(&frontier, n * sizeof(int)));
    RT(cudaMalloc(&next, n * sizeof(int)));
    RT(cudaMalloc(&nextSize, sizeof(int)));
    RT(cudaMemcpy(dOffset, offset.data(), offset.size() * sizeof(int), cudaMemcpyHostToDevice));
    RT(cudaMemcpy(dTarget, target.data(), target.size() * sizeof(int), cudaMemcpyHostToDevice));
    RT(cudaMemset(level, 0xff, n * sizeof(int)));
    const int source = 0;
    RT(cudaMemset(level, 0, sizeof(int)));
    RT(cudaMemcpy(frontier, &source, sizeof(int), cudaMemcpyHostToDevice));

    int size = 1, depth = 0;
    std::vector<int> widths;
    while (size > 0) {
        widths.push_back(size);
        RT(cudaMemset(nextSize, 0, sizeof(int)));
        expand<<<(size + kBlock - 1) / kBlock, kBlock>>>({dOffset, dTarget}, frontier, size, depth, level, next, nextSize);
        RT(cudaGetLastError());
        RT(cudaMemcpy(&size, nextSize, sizeof(int), cudaMemcpyDeviceToHost));
        std::swap(frontier, next);
        ++depth;
    }
    std::vector<int> levels(n), expected(n, -1);
    RT(cudaMemcpy(levels.data(), level, n * sizeof(int), cudaMemcpyDeviceToHost));

    std::queue<int> pending;
    expected[source] = 0;
    pending.push(source);
    while (!pending.empty()) {
        const int v = pending.front();
        pending.pop();
        for (int e = offset[v]; e < offset[v + 1]; ++e)
            if (expected[target[e]] < 0) {
                expected[target[e]] = expected[v] + 1;
                pending.push(target[e]);
            }
    }
    int reached = 0;
    long long levelSum = 0;
    for (int v = 0; v < n; ++v)
        if (levels[v] >= 0) {
            ++reached;
            levelSum += levels[v];
        }
    size_t widest = 0;
    for (size_t d = 1; d < widths.size(); ++d)
        if (widths[d] > widths[widest])
            widest = d;
    printf("reached %d of %d vertices in %d levels\n", reached, n, (int)widths.size());
    printf("widest level %d with %d vertices, level sum %lld\n", (int)widest, widths[widest], levelSum);
    const bool ok = levels == expected;
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    for (int* p : {dOffset, dTarget, level, frontier, next, nextSize})
        RT(cudaFree(p));
    return ok ? 0 : 1;
}
