// SPDX-License-Identifier: MIT
// Bitmap index over two attributes: warps build 32-bit bitmap words with a ballot, queries
// combine bitmaps and count matches, and rank/select answer positional questions.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(x)                                                          \
    do {                                                                       \
        cudaError_t e = (x);                                                   \
        if (e != cudaSuccess) {                                                \
            fprintf(stderr, "%s @%d\n", cudaGetErrorName(e), __LINE__);        \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

struct Row {
    unsigned char colour;  // 0..7
    unsigned char size;    // 0..99
};

__host__ __device__ inline bool wanted(Row r) { return r.colour == 3 && r.size >= 25 && r.size < 75; }

__global__ void buildBitmaps(const Row* rows, int n, unsigned* byColour, unsigned* bySize)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    Row r{255, 255};
    if (i < n)
        r = rows[i];
    const unsigned colour = __ballot_sync(0xffffffffu, r.colour == 3);
    const unsigned size = __ballot_sync(0xffffffffu, r.size >= 25 && r.size < 75);
    if (threadIdx.x % 32 == 0) {
        byColour[i / 32] = colour;
        bySize[i / 32] = size;
    }
}

// ANDs two bitmaps and keeps the running population in front of each word (one block).
__global__ void intersect(const unsigned* a, const unsigned* b, int words, unsigned* out, unsigned* rank)
{
    __shared__ unsigned sums[256];
    __shared__ unsigned total;
    if (threadIdx.x == 0)
        total = 0;
    for (int base = 0; base < words; base += 256) {
        const int w = base + threadIdx.x;
        const unsigned bits = w < words ? a[w] & b[w] : 0u;
        unsigned count = __popc(bits);
        sums[threadIdx.x] = count;
        __syncthreads();
        for (int d = 1; d < 256; d <<= 1) {
            const unsigned lower = threadIdx.x >= d ? sums[threadIdx.x - d] : 0u;
            __syncthreads();
            sums[threadIdx.x] += lower;
            __syncthreads();
        }
        if (w < words) {
            out[w] = bits;
            rank[w] = total + sums[threadIdx.x] - count;
        }
        __syncthreads();
        if (threadIdx.x == 255)
            total += sums[255];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        rank[words] = total;
}

// select(k): position of the k-th set bit, by binary search over rank and then over the word.
__global__ void selectBits(const unsigned* bits, const unsigned* rank, int words, int queries, int* position)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= queries)
        return;
    int low = 0, high = words;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (rank[middle] <= (unsigned)k)
            low = middle;
        else
            high = middle;
    }
    unsigned word = bits[low];
    for (unsigned skip = k - rank[low]; skip > 0; --skip)
        word &= word - 1;
    position[k] = low * 32 + __ffs((int)word) - 1;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 50000;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 14u;
    if (n < 1)
        return 2;
    std::vector<Row> rows(n);
    std::vector<int> expected;
    for (int i = 0; i < n; ++i) {
        seed = seed * 1103515245u + 12345u;
        rows[i] = Row{(unsigned char)(seed >> 20 & 7u), (unsigned char)((seed >> 8) % 100u)};
        if (wanted(rows[i]))
            expected.push_back(i);
    }
    const int block = 256, grid = (n + block - 1) / block, words = grid * block / 32;
    Row* dRows;
    unsigned *colour, *size, *both, *rank;
    int* position;
    CUDA_CHECK(cudaMalloc(&dRows, n * sizeof(Row)));
    CUDA_CHECK(cudaMalloc(&colour, words * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&size, words * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&both, words * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&rank, (words + 1) * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&position, n * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(dRows, rows.data(), n * sizeof(Row), cudaMemcpyHostToDevice));
    buildBitmaps<<<grid, block>>>(dRows, n, colour, size);
    intersect<<<1, 256>>>(colour, size, words, both, rank);
    unsigned matches = 0;
    CUDA_CHECK(cudaMemcpy(&matches, rank + words, sizeof matches, cudaMemcpyDeviceToHost));
    bool ok = matches == expected.size();
    std::vector<int> positions(ok ? matches : 0);
    if (!positions.empty()) {
        selectBits<<<(matches + block - 1) / block, block>>>(both, rank, words, (int)matches, position);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(positions.data(), position, matches * sizeof(int), cudaMemcpyDeviceToHost));
    }
    ok = ok && positions == expected;
    printf("rows %d, matching rows %u\n", n, matches);
    if (!positions.empty())
        printf("first match %d, middle match %d, last match %d\n", positions.front(), positions[positions.size() / 2],
               positions.back());
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CUDA_CHECK(cudaFree(dRows));
    CUDA_CHECK(cudaFree(colour));
    CUDA_CHECK(cudaFree(size));
    CUDA_CHECK(cudaFree(both));
    CUDA_CHECK(cudaFree(rank));
    CUDA_CHECK(cudaFree(position));
    return ok ? 0 : 1;
}
