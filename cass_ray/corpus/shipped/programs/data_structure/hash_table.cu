// SPDX-License-Identifier: MIT
// Open-addressing hash table with linear probing. Threads claim slots with atomicCAS, add to
// the stored count of a repeated key, and a second kernel looks keys up.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#define CUDA_CHECK(call)                                                                \
    do {                                                                                \
        cudaError_t err = (call);                                                       \
        if (err != cudaSuccess) {                                                       \
            fprintf(stderr, "hash_table: %s at %d\n", cudaGetErrorString(err), __LINE__); \
            exit(2);                                                                    \
        }                                                                               \
    } while (0)

constexpr unsigned kEmpty = 0xffffffffu;

struct Table {
    unsigned* keys;
    unsigned* counts;
    unsigned mask;

    __device__ static unsigned hash(unsigned k)
    {
        k ^= k >> 16;
        k *= 0x85ebca6bu;
        k ^= k >> 13;
        k *= 0xc2b2ae35u;
        return k ^ (k >> 16);
    }

    __device__ void add(unsigned key, unsigned amount)
    {
        for (unsigned slot = hash(key) & mask;; slot = (slot + 1) & mask) {
            const unsigned seen = atomicCAS(&keys[slot], kEmpty, key);
            if (seen == kEmpty || seen == key) {
                atomicAdd(&counts[slot], amount);
                return;
            }
        }
    }

    __device__ unsigned find(unsigned key) const
    {
        for (unsigned slot = hash(key) & mask; keys[slot] != kEmpty; slot = (slot + 1) & mask)
            if (keys[slot] == key)
                return counts[slot];
        return 0;
    }
};

__global__ void insertAll(Table table, const unsigned* keys, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        table.add(keys[i], 1);
}

__global__ void lookup(Table table, const unsigned* queries, int n, unsigned* answers)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        answers[i] = table.find(queries[i]);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 20000;
    unsigned state = argc > 2 ? (unsigned)strtoul(argv[2], nullptr, 10) : 31u;
    if (n < 1)
        return 2;
    unsigned capacity = 64;
    while (capacity < 2u * n)
        capacity *= 2;

    std::vector<unsigned> keys(n), queries(n), answers(n);
    std::unordered_map<unsigned, unsigned> expected;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        keys[i] = (state >> 8) % (unsigned)n * 7u;
        queries[i] = (unsigned)i * 7u;
        ++expected[keys[i]];
    }

    unsigned *dKeys, *dQueries, *dAnswers;
    Table table{nullptr, nullptr, capacity - 1};
    CUDA_CHECK(cudaMalloc(&dKeys, n * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&dQueries, n * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&dAnswers, n * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&table.keys, capacity * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&table.counts, capacity * sizeof(unsigned)));
    CUDA_CHECK(cudaMemset(table.keys, 0xff, capacity * sizeof(unsigned)));
    CUDA_CHECK(cudaMemset(table.counts, 0, capacity * sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpy(dKeys, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dQueries, queries.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    const int block = 256, grid = (n + block - 1) / block;
    insertAll<<<grid, block>>>(table, dKeys, n);
    lookup<<<grid, block>>>(table, dQueries, n, dAnswers);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(answers.data(), dAnswers, n * sizeof(unsigned), cudaMemcpyDeviceToHost));

    int wrong = 0, present = 0;
    unsigned most = 0, mostKey = 0;
    for (int i = 0; i < n; ++i) {
        const auto it = expected.find(queries[i]);
        wrong += answers[i] != (it == expected.end() ? 0u : it->second);
        present += answers[i] != 0;
        if (answers[i] > most) {
            most = answers[i];
            mostKey = queries[i];
        }
    }
    printf("inserted %d keys, capacity %u\n", n, capacity);
    printf("distinct %d, most frequent %u (%u times)\n", present, mostKey, most);
    printf("verify: %s\n", wrong ? "MISMATCH" : "OK");
    CUDA_CHECK(cudaFree(dKeys));
    CUDA_CHECK(cudaFree(dQueries));
    CUDA_CHECK(cudaFree(dAnswers));
    CUDA_CHECK(cudaFree(table.keys));
    CUDA_CHECK(cudaFree(table.counts));
    return wrong ? 1 : 0;
}
