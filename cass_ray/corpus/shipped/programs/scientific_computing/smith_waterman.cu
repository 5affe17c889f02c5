// SPDX-License-Identifier: MIT
// Smith-Waterman local alignment scores with affine gaps. One block aligns one pair of
// sequences along anti-diagonals; three rolling diagonals are kept in shared memory.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define SW_CHECK(call)                                                         \
    do {                                                                       \
        cudaError_t rc = (call);                                               \
        if (rc != cudaSuccess) {                                               \
            fprintf(stderr, "smith_waterman: %s\n", cudaGetErrorString(rc));   \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

constexpr int kMaxLength = 128;
constexpr int kMatch = 5, kMismatch = -4, kOpen = 8, kExtend = 1;
constexpr int kMinusInfinity = -100000;

struct Cell {
    int score, gapInQuery, gapInTarget;
};

__global__ void align(const char* queries, const char* targets, int length, int* best)
{
    __shared__ Cell diagonal[3][kMaxLength + 1];  // indexed by query position, entry 0 is the border
    __shared__ int top;
    const char* query = queries + blockIdx.x * length;
    const char* target = targets + blockIdx.x * length;
    const int i = threadIdx.x + 1;  // 1-based row
    for (int d = 0; d < 3; ++d)
        for (int k = threadIdx.x; k <= length; k += blockDim.x)
            diagonal[d][k] = Cell{0, kMinusInfinity, kMinusInfinity};
    if (threadIdx.x == 0)
        top = 0;
    __syncthreads();
    int mine = 0;
    for (int d = 2; d <= 2 * length; ++d) {
        const int j = d - i;  // column on this anti-diagonal
        Cell* now = diagonal[d % 3];
        const Cell* previous = diagonal[(d + 2) % 3];
        const Cell* beforePrevious = diagonal[(d + 1) % 3];
        if (i <= length && j >= 1 && j <= length) {
            const Cell up = previous[i - 1], left = j > 1 ? previous[i] : Cell{0, kMinusInfinity, kMinusInfinity};
            const int corner = i > 1 && j > 1 ? beforePrevious[i - 1].score : 0;
            Cell c;
            c.gapInQuery = max(left.score - kOpen, left.gapInQuery - kExtend);
            const int above = i > 1 ? up.score : 0, aboveGap = i > 1 ? up.gapInTarget : kMinusInfinity;
            c.gapInTarget = max(above - kOpen, aboveGap - kExtend);
            const int pair = corner + (query[i - 1] == target[j - 1] ? kMatch : kMismatch);
            c.score = max(max(0, pair), max(c.gapInQuery, c.gapInTarget));
            now[i] = c;
            mine = max(mine, c.score);
        }
        __syncthreads();
    }
    atomicMax(&top, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        best[blockIdx.x] = top;
}

static int hostScore(const char* query, const char* target, int length)
{
    std::vector<Cell> row(length + 1, Cell{0, kMinusInfinity, kMinusInfinity});
    int best = 0;
    for (int i = 1; i <= length; ++i) {
        int corner = 0, gapInQuery = kMinusInfinity, left = 0;
        for (int j = 1; j <= length; ++j) {
            Cell& c = row[j];
            gapInQuery = std::max(left - kOpen, gapInQuery - kExtend);
            c.gapInTarget = std::max(c.score - kOpen, c.gapInTarget - kExtend);
            const int pair = corner + (query[i - 1] == target[j - 1] ? kMatch : kMismatch);
            corner = c.score;
            c.score = std::max(std::max(0, pair), std::max(gapInQuery, c.gapInTarget));
            left = c.score;
            best = std::max(best, c.score);
        }
    }
    return best;
}

int main(int argc, char** argv)
{
    const int pairs = argc > 1 ? atoi(argv[1]) : 24;
    const int length = argc > 2 ? atoi(argv[2]) : 60;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 29u;
    if (pairs < 1 || length < 2 || length > kMaxLength)
        return 2;
    auto draw = [&seed]() {
        seed = seed * 1103515245u + 12345u;
        return seed >> 16;
    };
    // Targets are mutated copies: point changes, and a shift that forces a gap.
    std::vector<char> queries(pairs * length), targets(pairs * length);
    for (int p = 0; p < pairs; ++p)
        for (int i = 0; i < length; ++i) {
            queries[p * length + i] = "ACGT"[draw() & 3u];
            const int from = i < length / 2 ? i : i - p % 5;
            targets[p * length + i] = draw() % 8u ? queries[p * length + (from < 0 ? 0 : from)] : "ACGT"[draw() & 3u];
        }
    char *dQueries, *dTargets;
    int* dBest;
    SW_CHECK(cudaMalloc(&dQueries, queries.size()));
    SW_CHECK(cudaMalloc(&dTargets, targets.size()));
    SW_CHECK(cudaMalloc(&dBest, pairs * sizeof(int)));
    SW_CHECK(cudaMemcpy(dQueries, queries.data(), queries.size(), cudaMemcpyHostToDevice));
    SW_CHECK(cudaMemcpy(dTargets, targets.data(), targets.size(), cudaMemcpyHostToDevice));
    align<<<pairs, (length + 31) / 32 * 32>>>(dQueries, dTargets, length, dBest);
    SW_CHECK(cudaGetLastError());
    std::vector<int> best(pairs);
    SW_CHECK(cudaMemcpy(best.data(), dBest, pairs * sizeof(int), cudaMemcpyDeviceToHost));

    int wrong = 0, sum = 0;
    for (int p = 0; p < pairs; ++p) {
        wrong += best[p] != hostScore(&queries[p * length], &targets[p * length], length);
        sum += best[p];
    }
    printf("%d alignments of %d letters\n", pairs, length);
    printf("scores: first %d, last %d, sum %d\n", best[0], best[pairs - 1], sum);
    printf("verify: %s\n", wrong ? "MISMATCH" : "OK");
    SW_CHECK(cudaFree(dQueries));
    SW_CHECK(cudaFree(dTargets));
    SW_CHECK(cudaFree(dBest));
    return wrong ? 1 : 0;
}
