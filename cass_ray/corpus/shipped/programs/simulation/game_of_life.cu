// SPDX-License-Identifier: MIT
// Conway's Game of Life on a torus. Each block loads its tile with a one-cell halo into shared
// memory; the population is counted on the device after every generation.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(c)                                                                  \
    do {                                                                       \
        if ((c) != cudaSuccess) {                                              \
            fprintf(stderr, "CUDA failure at %s:%d\n", __FILE__, __LINE__);    \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

typedef unsigned char cell;

#define BX 16
#define BY 16

__global__ void generation(const cell* __restrict__ now, cell* __restrict__ next, int w, int h, unsigned* population)
{
    __shared__ cell tile[BY + 2][BX + 2];
    const int x0 = blockIdx.x * BX - 1, y0 = blockIdx.y * BY - 1;
    for (int i = threadIdx.y * BX + threadIdx.x; i < (BX + 2) * (BY + 2); i += BX * BY) {
        const int tx = i % (BX + 2), ty = i / (BX + 2);
        const int x = (x0 + tx + w) % w, y = (y0 + ty + h) % h;
        tile[ty][tx] = now[y * w + x];
    }
    __syncthreads();

    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int alive = 0;
    if (x < w && y < h) {
        const int cx = threadIdx.x + 1, cy = threadIdx.y + 1;
        int around = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                around += tile[cy + dy][cx + dx];
        around -= tile[cy][cx];
        alive = around == 3 || (around == 2 && tile[cy][cx]);
        next[y * w + x] = (cell)alive;
    }
    const int born = __syncthreads_count(alive);
    if (threadIdx.x == 0 && threadIdx.y == 0 && born)
        atomicAdd(population, (unsigned)born);
}

static void reference(const std::vector<cell>& now, std::vector<cell>& next, int w, int h)
{
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
            int around = 0;
            for (int k = 0; k < 9; ++k)
                if (k != 4)
                    around += now[(y + k / 3 - 1 + h) % h * w + (x + k % 3 - 1 + w) % w];
            next[y * w + x] = around == 3 || (around == 2 && now[y * w + x]);
        }
}

int main(int argc, char** argv)
{
    const int w = argc > 1 ? atoi(argv[1]) : 70;
    const int h = argc > 2 ? atoi(argv[2]) : 50;
    const int generations = argc > 3 ? atoi(argv[3]) : 12;
    unsigned seed = argc > 4 ? (unsigned)atoi(argv[4]) : 77u;
    if (w < 3 || h < 3 || generations < 1)
        return 2;
    std::vector<cell> board(w * h), other(w * h), gpu(w * h);
    for (cell& c : board) {
        seed = seed * 1103515245u + 12345u;
        c = (seed >> 16) % 10u < 3u;
    }
    cell *a, *b;
    unsigned* population;
    CK(cudaMalloc(&a, w * h));
    CK(cudaMalloc(&b, w * h));
    CK(cudaMalloc(&population, generations * sizeof(unsigned)));
    CK(cudaMemset(population, 0, generations * sizeof(unsigned)));
    CK(cudaMemcpy(a, board.data(), w * h, cudaMemcpyHostToDevice));
    const dim3 grid((w + BX - 1) / BX, (h + BY - 1) / BY);
    for (int g = 0; g < generations; ++g) {
        generation<<<grid, dim3(BX, BY)>>>(a, b, w, h, population + g);
        CK(cudaGetLastError());
        cell* t = a;
        a = b;
        b = t;
    }
    std::vector<unsigned> counts(generations);
    CK(cudaMemcpy(counts.data(), population, generations * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(gpu.data(), a, w * h, cudaMemcpyDeviceToHost));

    bool ok = true;
    for (int g = 0; g < generations; ++g) {
        reference(board, other, w, h);
        board.swap(other);
        unsigned alive = 0;
        for (cell c : board)
            alive += c;
        ok = ok && alive == counts[g];
    }
    ok = ok && board == gpu;
    for (int g = 0; g < generations; g += 4)
        printf("generation %d population %u\n", g + 1, counts[g]);
    for (int x = 0; x < (w < 60 ? w : 60); ++x)
        putchar(gpu[(h / 2) * w + x] ? '#' : '.');
    putchar('\n');
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CK(cudaFree(a));
    CK(cudaFree(b));
    CK(cudaFree(population));
    return ok ? 0 : 1;
}
