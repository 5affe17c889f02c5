// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "fhp_rules.cuh"

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            fprintf(stderr, "%s:%d: CUDA error: %s\n", __FILE__, __LINE__,      \
                         cudaGetErrorString(status));                                \
            exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

__constant__ int wordsPerRow, rows;
__constant__ uint32_t chiralitySeed;
__device__ unsigned long long census[6];

// Word w of a row shifted so that bit k holds the cell to the west (or east) of it; rows are rings.
__device__ uint32_t fromWest(const uint32_t* row, int w)
{
    const int left = w == 0 ? wordsPerRow - 1 : w - 1;
    return __funnelshift_l(row[left], row[w], 1);
}
__device__ uint32_t fromEast(const uint32_t* row, int w)
{
    const int right = w + 1 == wordsPerRow ? 0 : w + 1;
    return __funnelshift_r(row[w], row[right], 1);
}

__global__ void collideAll(uint32_t* cells, const uint32_t* solid, uint32_t step)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = wordsPerRow * rows;
    if (i >= n) return;
    Cell6 in;
    for (int k = 0; k < 6; ++k) in.d[k] = cells[k * n + i];
    const Cell6 out = collide(in, chiralityOf((uint32_t)i, step, chiralitySeed), solid[i]);
    for (int k = 0; k < 6; ++k) cells[k * n + i] = out.d[k];
}

// Odd rows are half a cell further east. Row y + 1 is north.
__global__ void propagate(const uint32_t* from, uint32_t* to)
{
    const int w = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const int n = wordsPerRow * rows;
    if (w >= wordsPerRow) return;
    const int south = (y + rows - 1) % rows, north = (y + 1) % rows;
    const bool odd = y & 1;
    const int at = y * wordsPerRow + w;
    to[at] = fromWest(from + y * wordsPerRow, w);
    to[3 * n + at] = fromEast(from + 3 * n + y * wordsPerRow, w);
    const uint32_t* northEast = from + n + south * wordsPerRow;
    const uint32_t* northWest = from + 2 * n + south * wordsPerRow;
    const uint32_t* southWest = from + 4 * n + north * wordsPerRow;
    const uint32_t* southEast = from + 5 * n + north * wordsPerRow;
    to[n + at] = odd ? northEast[w] : fromWest(northEast, w);
    to[2 * n + at] = odd ? fromEast(northWest, w) : northWest[w];
    to[4 * n + at] = odd ? fromEast(southWest, w) : southWest[w];
    to[5 * n + at] = odd ? southEast[w] : fromWest(southEast, w);
}

__global__ void countAll(const uint32_t* cells)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = wordsPerRow * rows;
    if (i >= n) return;
    for (int k = 0; k < 6; ++k) atomicAdd(&census[k], (unsigned long long)__popc(cells[k * n + i]));
}

// The host moves one particle at a time.
static void hostStep(std::vector<uint32_t>& cells, const std::vector<uint32_t>& solid, int words, int height, uint32_t step, uint32_t seed)
{
    const int n = words * height, width = 32 * words;
    std::vector<uint32_t> to(6 * n, 0u);
    for (int i = 0; i < n; ++i) {
        Cell6 in;
        for (int k = 0; k < 6; ++k) in.d[k] = cells[k * n + i];
        const Cell6 out = collide(in, chiralityOf((uint32_t)i, step, seed), solid[i]);
        const int y = i / words;
        for (int k = 0; k < 6; ++k)
            for (int bit = 0; bit < 32; ++bit)
                if (out.d[k] >> bit & 1u) {
                    const int x = i % words * 32 + bit, odd = y & 1;
                    const int dx[6] = { 1, odd, odd - 1, -1, odd - 1, odd };
                    const int dy[6] = { 0, 1, 1, 0, -1, -1 };
                    const int tx = (x + dx[k] + width) % width, ty = (y + dy[k] + height) % height;
                    to[k * n + ty * words + tx / 32] |= 1u << (tx % 32);
                }
    }
    cells.swap(to);
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 128, height = 2 * ((argc > 2 ? atoi(argv[2]) : 40) / 2);
    const int steps = argc > 3 ? atoi(argv[3]) : 9;
    uint32_t s = argc > 4 ? (uint32_t)atoi(argv[4]) : 1u;
    if (width < 32 || width % 32 || height < 4 || steps < 1) return 1;
    const int words = width / 32, n = words * height;
    const uint32_t seed = s * 2654435761u;
    std::vector<uint32_t> cells(6 * n), solid(n, 0u), result(6 * n);
    for (uint32_t& c : cells) {
        s = s * 1664525u + 1013904223u;
        c = s ^ s >> 16;
        s = s * 1664525u + 1013904223u;
        c &= s ^ s >> 11;
    }
    for (int y = height / 3; y < height / 2; ++y) solid[y * words + words / 2] = 0x003fff00u;
    CHECK(cudaMemcpyToSymbol(wordsPerRow, &words, sizeof words));
    CHECK(cudaMemcpyToSymbol(rows, &height, sizeof height));
    CHECK(cudaMemcpyToSymbol(chiralitySeed, &seed, sizeof seed));
    uint32_t *a, *b, *ds;
    CHECK(cudaMalloc(&a, 6 * n * 4));
    CHECK(cudaMalloc(&b, 6 * n * 4));
    CHECK(cudaMalloc(&ds, n * 4));
    CHECK(cudaMemcpy(a, cells.data(), 6 * n * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(ds, solid.data(), n * 4, cudaMemcpyHostToDevice));
    unsigned long long particles = 0;
    for (uint32_t c : cells)
        for (; c; c &= c - 1) ++particles;
    for (int step = 0; step < steps; ++step) {
        collideAll<<<(n + 63) / 64, 64>>>(a, ds, (uint32_t)step);
        propagate<<<dim3((words + 31) / 32, height), 32>>>(a, b);
        CHECK(cudaGetLastError());
        uint32_t* t = a;
        a = b;
        b = t;
        hostStep(cells, solid, words, height, (uint32_t)step, seed);
    }
    countAll<<<(n + 63) / 64, 64>>>(a);
    CHECK(cudaGetLastError());
    unsigned long long counts[6], total = 0;
    CHECK(cudaMemcpyFromSymbol(counts, census, sizeof counts));
    CHECK(cudaMemcpy(result.data(), a, 6 * n * 4, cudaMemcpyDeviceToHost));
    int wrong = 0;
    uint32_t fold = 0;
    for (int i = 0; i < 6 * n; ++i) {
        wrong += result[i] != cells[i];
        fold = fold * 16777619u ^ result[i];
    }
    printf("%d x %d steps %d particles %llu\ncensus", width, height, steps, particles);
    for (unsigned long long c : counts) {
        printf(" %llu", c);
        total += c;
    }
    wrong += total != particles;
    printf("\nfold %08x wrong %d\n", fold, wrong);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(ds));
    return wrong ? 1 : 0;
}
