// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void gpuAssert(cudaError_t code, const char* file, int line)
{
    if (code == cudaSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", cudaGetErrorName(code), file, line);
    exit(1);
}
#define CUDA_CHECK(ans) gpuAssert((ans), __FILE__, __LINE__)

struct Item {
    unsigned key;
    unsigned payload;
    Item* next;
};

__global__ void push(const unsigned* keys, int n, Item** buckets, int bucketCount, int* failures)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Item* item = (Item*)malloc(sizeof(Item));
    if (item == nullptr) {
        atomicAdd(failures, 1);
        return;
    }
    item->key = keys[i];
    item->payload = (unsigned)i * 2654435761u;
    unsigned long long* head = (unsigned long long*)&buckets[keys[i] % (unsigned)bucketCount];
    unsigned long long seen = atomicAdd(head, 0ull);
    for (;;) {
        item->next = (Item*)seen;
        __threadfence();
        const unsigned long long was = atomicCAS(head, seen, (unsigned long long)item);
        if (was == seen) break;
        seen = was;
    }
}

// One thread per bucket: sums that do not depend on the order in the list; then everything is freed.
__global__ void drain(Item** buckets, int bucketCount, unsigned* counts, unsigned long long* sums, unsigned* folds)
{
    const int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= bucketCount) return;
    unsigned count = 0, fold = 0;
    unsigned long long sum = 0;
    Item* item = buckets[b];
    while (item) {
        Item* next = item->next;
        ++count;
        sum += (unsigned long long)item->key * (item->payload >> 16);
        fold ^= item->payload + item->key;
        free(item);
        item = next;
    }
    buckets[b] = nullptr;
    counts[b] = count;
    sums[b] = sum;
    folds[b] = fold;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1000, bucketCount = argc > 2 ? atoi(argv[2]) : 13;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 6u;
    if (n < 1 || bucketCount < 1) return 1;
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)16 << 20));
    std::vector<unsigned> keys(n);
    for (unsigned& k : keys) {
        s = s * 1664525u + 1013904223u;
        k = s >> 7;
    }
    unsigned *dk, *dc, *df;
    unsigned long long* ds;
    Item** db;
    int* dfail;
    CUDA_CHECK(cudaMalloc(&dk, n * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&dc, bucketCount * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&df, bucketCount * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&ds, bucketCount * sizeof(unsigned long long)));
    CUDA_CHECK(cudaMalloc(&db, bucketCount * sizeof(Item*)));
    CUDA_CHECK(cudaMalloc(&dfail, sizeof(int)));
    CUDA_CHECK(cudaMemset(db, 0, bucketCount * sizeof(Item*)));
    CUDA_CHECK(cudaMemset(dfail, 0, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(dk, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    std::vector<unsigned> counts(bucketCount), folds(bucketCount);
    std::vector<unsigned long long> sums(bucketCount);
    int wrong = 0, failures = 0;
    for (int round = 0; round < 2; ++round) {
        push<<<(n + 95) / 96, 96>>>(dk, n, db, bucketCount, dfail);
        drain<<<(bucketCount + 31) / 32, 32>>>(db, bucketCount, dc, ds, df);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
        CUDA_CHECK(cudaMemcpy(counts.data(), dc, bucketCount * sizeof(unsigned), cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaMemcpy(folds.data(), df, bucketCount * sizeof(unsigned), cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaMemcpy(sums.data(), ds, bucketCount * sizeof(unsigned long long), cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaMemcpy(&failures, dfail, sizeof(int), cudaMemcpyDeviceToHost));
        std::vector<unsigned> c(bucketCount, 0u), f(bucketCount, 0u);
        std::vector<unsigned long long> t(bucketCount, 0ull);
        for (int i = 0; i < n; ++i) {
            const unsigned payload = (unsigned)i * 2654435761u, b = keys[i] % (unsigned)bucketCount;
            c[b]++;
            f[b] ^= payload + keys[i];
            t[b] += (unsigned long long)keys[i] * (payload >> 16);
        }
        wrong += c != counts || f != folds || t != sums;
    }
    for (int b = 0; b < bucketCount && b < 8; ++b) printf("bucket %d: %u items sum %llu fold %08x\n", b, counts[b], sums[b], folds[b]);
    unsigned long long all = 0;
    for (int b = 0; b < bucketCount; ++b) all = all * 31 + sums[b] + folds[b];
    printf("n %d all %016llx failures %d wrong %d\n", n, all, failures, wrong);
    cudaFree(dk); cudaFree(dc); cudaFree(df); cudaFree(ds); cudaFree(db); cudaFree(dfail);
    return wrong || failures;
}
