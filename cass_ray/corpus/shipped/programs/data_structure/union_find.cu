// SPDX-License-Identifier: MIT
// Connected components of a random graph by lock-free union-find: roots hook onto smaller roots
// with atomicCAS, finds halve their paths, and a last kernel flattens the forest.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#define CUDA_DO(call)                                                            \
    do {                                                                         \
        cudaError_t e = (call);                                                  \
        if (e != cudaSuccess) {                                                  \
            std::fprintf(stderr, "%s\n  in %s\n", cudaGetErrorString(e), #call); \
            std::exit(2);                                                        \
        }                                                                        \
    } while (0)

__device__ int findRoot(volatile int* parent, int v)
{
    int p = parent[v];
    while (p != v) {
        const int grand = parent[p];
        parent[v] = grand;  // benign race: every written value is an ancestor
        v = p;
        p = parent[v];
    }
    return v;
}

__global__ void initForest(int* parent, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        parent[i] = i;
}

__global__ void hookEdges(int* parent, const int2* edges, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    int a = findRoot(parent, edges[i].x);
    int b = findRoot(parent, edges[i].y);
    while (a != b) {
        if (a < b) {
            const int t = a;
            a = b;
            b = t;
        }
        // a is the larger root; hook it below b unless somebody was faster.
        const int seen = atomicCAS(&parent[a], a, b);
        if (seen == a)
            break;
        a = findRoot(parent, seen);
        b = findRoot(parent, b);
    }
}

__global__ void flatten(const int* parent, int* label, int n, int* roots)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = i;
    while (parent[v] != v)
        v = parent[v];
    label[i] = v;
    if (v == i)
        atomicAdd(roots, 1);
}

static int hostFind(std::vector<int>& parent, int v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 10000;
    const int m = argc > 2 ? std::atoi(argv[2]) : 6000;
    unsigned seed = argc > 3 ? (unsigned)std::atoi(argv[3]) : 2u;
    if (n < 2 || m < 1)
        return 2;
    std::vector<int2> edges(m);
    for (int2& e : edges) {
        seed = seed * 1103515245u + 12345u;
        e.x = (int)((seed >> 4) % (unsigned)n);
        seed = seed * 1103515245u + 12345u;
        e.y = (int)((seed >> 4) % (unsigned)n);
    }
    int *parent, *label, *roots;
    int2* dEdges;
    CUDA_DO(cudaMalloc(&parent, n * sizeof(int)));
    CUDA_DO(cudaMalloc(&label, n * sizeof(int)));
    CUDA_DO(cudaMalloc(&roots, sizeof(int)));
    CUDA_DO(cudaMalloc(&dEdges, m * sizeof(int2)));
    CUDA_DO(cudaMemset(roots, 0, sizeof(int)));
    CUDA_DO(cudaMemcpy(dEdges, edges.data(), m * sizeof(int2), cudaMemcpyHostToDevice));
    initForest<<<(n + 255) / 256, 256>>>(parent, n);
    hookEdges<<<(m + 255) / 256, 256>>>(parent, dEdges, m);
    flatten<<<(n + 255) / 256, 256>>>(parent, label, n, roots);
    CUDA_DO(cudaGetLastError());
    std::vector<int> labels(n);
    int components = 0;
    CUDA_DO(cudaMemcpy(labels.data(), label, n * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_DO(cudaMemcpy(&components, roots, sizeof(int), cudaMemcpyDeviceToHost));

    // Hooking towards smaller roots makes the label the smallest vertex of its component.
    std::vector<int> forest(n), size(n, 0);
    std::iota(forest.begin(), forest.end(), 0);
    for (const int2& e : edges) {
        const int a = hostFind(forest, e.x), b = hostFind(forest, e.y);
        if (a != b)
            forest[a > b ? a : b] = a < b ? a : b;
    }
    bool ok = true;
    int expected = 0, giant = 0;
    for (int i = 0; i < n; ++i) {
        ok = ok && labels[i] == hostFind(forest, i);
        expected += forest[i] == i;
        if (++size[labels[i]] > size[giant])
            giant = labels[i];
    }
    ok = ok && expected == components;
    std::printf("vertices %d edges %d components %d\n", n, m, components);
    std::printf("size of the largest component %d\n", size[giant]);
    std::printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CUDA_DO(cudaFree(parent));
    CUDA_DO(cudaFree(label));
    CUDA_DO(cudaFree(roots));
    CUDA_DO(cudaFree(dEdges));
    return ok ? 0 : 1;
}
