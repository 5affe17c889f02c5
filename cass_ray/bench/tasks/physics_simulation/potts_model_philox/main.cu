// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void gpuAssert(cudaError_t code, const char* file, int line)
{
    if (code == cudaSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", cudaGetErrorName(code), file, line);
    exit(1);
}
#define checkCudaErrors(ans) gpuAssert((ans), __FILE__, __LINE__)

const int kStates = 5;
// Acceptance in 2^-32 for a loss of 0 .. 4 equal neighbours: round(2^32 exp(-0.9 loss)), the first one always.
#define ACCEPTANCE { 0xffffffffu, 1746193083u, 709949994u, 288643112u, 117353532u }
__constant__ uint32_t acceptance[5] = ACCEPTANCE;

__global__ void prepare(curandStatePhilox4_32_10_t* states, unsigned long long seed, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) curand_init(seed, (unsigned long long)i, 0ull, &states[i]);
}

__global__ void update(int* spins, curandStatePhilox4_32_10_t* states, int size, int colour)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, half = size / 2;
    if (i >= size * half) return;
    const int y = i / half, x = 2 * (i % half) + ((y + colour) & 1);
    curandStatePhilox4_32_10_t state = states[i];
    const unsigned proposal = curand(&state), chance = curand(&state);
    states[i] = state;
    const int old = spins[y * size + x];
    const int candidate = (old + 1 + (int)(proposal % (unsigned)(kStates - 1))) % kStates;
    const int neighbours[4] = { spins[y * size + (x + 1) % size], spins[y * size + (x + size - 1) % size],
                                spins[(y + 1) % size * size + x], spins[(y + size - 1) % size * size + x] };
    int loss = 0;
    for (int k = 0; k < 4; ++k) loss += (neighbours[k] == old) - (neighbours[k] == candidate);
    if (loss <= 0 || chance < acceptance[loss]) spins[y * size + x] = candidate;
}

// Philox4x32-10 (Salmon et al., 2011). Counter: draws / 4 below, the sequence above; key: the seed.
static uint32_t philox(uint64_t seed, uint64_t sequence, uint64_t draw)
{
    uint32_t c[4] = { (uint32_t)(draw / 4), (uint32_t)(draw / 4 >> 32), (uint32_t)sequence, (uint32_t)(sequence >> 32) };
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64_t p = (uint64_t)0xd2511f53u * c[0], q = (uint64_t)0xcd9e8d57u * c[2];
        const uint32_t next[4] = { (uint32_t)(q >> 32) ^ c[1] ^ k0, (uint32_t)q, (uint32_t)(p >> 32) ^ c[3] ^ k1, (uint32_t)p };
        for (int w = 0; w < 4; ++w) c[w] = next[w];
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return c[draw % 4];
}

int main(int argc, char** argv)
{
    const int size = argc > 1 ? atoi(argv[1]) : 32, sweeps = argc > 2 ? atoi(argv[2]) : 5;
    const unsigned long long seed = argc > 3 ? strtoull(argv[3], nullptr, 10) : 42ull;
    if (size < 4 || size % 2 || sweeps < 1) {
        fprintf(stderr, "the size must be even and at least 4\n");
        return 1;
    }
    const int n = size * size, half = n / 2;
    std::vector<int> spins(n), result(n);
    for (int i = 0; i < n; ++i) spins[i] = (i * 7 + i / size * 3) % kStates;
    int* ds;
    curandStatePhilox4_32_10_t* dr;
    checkCudaErrors(cudaMalloc(&ds, n * sizeof(int)));
    checkCudaErrors(cudaMalloc(&dr, half * sizeof(curandStatePhilox4_32_10_t)));
    checkCudaErrors(cudaMemcpy(ds, spins.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    const int grid = (half + 63) / 64;
    prepare<<<grid, 64>>>(dr, seed, half);
    checkCudaErrors(cudaGetLastError());
    const uint32_t accept[5] = ACCEPTANCE;
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (int colour = 0; colour < 2; ++colour) {
            update<<<grid, 64>>>(ds, dr, size, colour);
            checkCudaErrors(cudaGetLastError());
            for (int i = 0; i < half; ++i) {
                const int y = i / (size / 2), x = 2 * (i % (size / 2)) + ((y + colour) & 1);
                const uint64_t draw = 4ull * (uint64_t)sweep + 2ull * (uint64_t)colour;
                const uint32_t proposal = philox(seed, (uint64_t)i, draw), chance = philox(seed, (uint64_t)i, draw + 1);
                const int old = spins[y * size + x], candidate = (old + 1 + (int)(proposal % (kStates - 1))) % kStates;
                const int neighbours[4] = { spins[y * size + (x + 1) % size], spins[y * size + (x + size - 1) % size],
                                            spins[(y + 1) % size * size + x], spins[(y + size - 1) % size * size + x] };
                int loss = 0;
                for (int nb : neighbours) loss += (nb == old) - (nb == candidate);
                if (loss <= 0 || chance < accept[loss]) spins[y * size + x] = candidate;
            }
        }
    checkCudaErrors(cudaMemcpy(result.data(), ds, n * sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0, bonds = 0, counts[kStates] = {0};
    unsigned fold = 0;
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x) {
            const int v = result[y * size + x];
            wrong += v != spins[y * size + x];
            bonds += (v == result[y * size + (x + 1) % size]) + (v == result[(y + 1) % size * size + x]);
            counts[v % kStates]++;
            fold = fold * 7u + (unsigned)v;
        }
    printf("size %d sweeps %d satisfied bonds %d of %d\nstates", size, sweeps, bonds, 2 * n);
    for (int c : counts) printf(" %d", c);
    printf("\nfold %08x wrong %d\n", fold, wrong);
    checkCudaErrors(cudaFree(ds));
    checkCudaErrors(cudaFree(dr));
    return wrong ? 1 : 0;
}
