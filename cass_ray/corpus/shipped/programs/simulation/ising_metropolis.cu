// SPDX-License-Identifier: MIT
// Two-dimensional Ising model, checkerboard Metropolis updates. Random numbers come from a
// counter-based integer hash and acceptance uses integer thresholds, so every run on every
// machine gives the same spins.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define GPU_CHECK(s)                                                                      \
    do {                                                                                  \
        cudaError_t e = (s);                                                              \
        if (e != cudaSuccess) {                                                           \
            fprintf(stderr, "[ising] line %d: %s\n", __LINE__, cudaGetErrorString(e));    \
            exit(2);                                                                      \
        }                                                                                 \
    } while (0)

// Acceptance thresholds for a field of 2 or 4 that opposes the flip: exp(-2 beta field) * 2^32.
__constant__ unsigned acceptance[2];

__host__ __device__ inline unsigned mix(unsigned site, unsigned sweep, unsigned seed)
{
    unsigned h = site * 0x9e3779b1u ^ sweep * 0x85ebca77u ^ seed;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    return h ^ (h >> 16);
}

__host__ __device__ inline int neighbours(const signed char* spin, int n, int x, int y)
{
    const int left = x ? x - 1 : n - 1, right = x + 1 < n ? x + 1 : 0;
    const int up = y ? y - 1 : n - 1, down = y + 1 < n ? y + 1 : 0;
    return spin[y * n + left] + spin[y * n + right] + spin[up * n + x] + spin[down * n + x];
}

__global__ void halfSweep(signed char* spin, int n, int colour, unsigned sweep, unsigned seed)
{
    const int half = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y;
    if (half >= n / 2)
        return;
    const int x = 2 * half + ((y + colour) & 1);
    const int i = y * n + x;
    const int field = spin[i] * neighbours(spin, n, x, y);  // -4, -2, 0, 2, 4
    if (field <= 0 || mix((unsigned)i, sweep, seed) < acceptance[field / 2 - 1])
        spin[i] = (signed char)-spin[i];
}

__global__ void observe(const signed char* spin, int n, int* magnetisation, int* energy)
{
    int m = 0, e = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * n; i += gridDim.x * blockDim.x) {
        const int x = i % n, y = i / n;
        m += spin[i];
        e -= spin[i] * neighbours(spin, n, x, y);
    }
    atomicAdd(magnetisation, m);
    atomicAdd(energy, e);
}

int main(int argc, char** argv)
{
    const int n = (argc > 1 ? atoi(argv[1]) : 64) & ~1;
    const int sweeps = argc > 2 ? atoi(argv[2]) : 20;
    const unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 4711u;
    if (n < 4 || sweeps < 1)
        return 2;
    // exp(-2 * 0.5 * field) in 32-bit fixed point, as constants so that no library rounding enters.
    const unsigned thresholds[2] = {581260615u, 78664448u};
    GPU_CHECK(cudaMemcpyToSymbol(acceptance, thresholds, sizeof thresholds));

    std::vector<signed char> spin(n * n), gpu(n * n);
    for (int i = 0; i < n * n; ++i)
        spin[i] = mix((unsigned)i, 0xffffffffu, seed) & 1u ? 1 : -1;
    signed char* d;
    int* sums;
    GPU_CHECK(cudaMalloc(&d, n * n));
    GPU_CHECK(cudaMalloc(&sums, 2 * sizeof(int)));
    GPU_CHECK(cudaMemcpy(d, spin.data(), n * n, cudaMemcpyHostToDevice));
    GPU_CHECK(cudaMemset(sums, 0, 2 * sizeof(int)));
    const dim3 grid((n / 2 + 31) / 32, n);
    for (int s = 0; s < sweeps; ++s)
        for (int colour = 0; colour < 2; ++colour)
            halfSweep<<<grid, 32>>>(d, n, colour, (unsigned)s, seed);
    observe<<<4, 128>>>(d, n, sums, sums + 1);
    GPU_CHECK(cudaGetLastError());
    int result[2];
    GPU_CHECK(cudaMemcpy(result, sums, sizeof result, cudaMemcpyDeviceToHost));
    GPU_CHECK(cudaMemcpy(gpu.data(), d, n * n, cudaMemcpyDeviceToHost));

    for (int s = 0; s < sweeps; ++s)
        for (int colour = 0; colour < 2; ++colour)
            for (int y = 0; y < n; ++y)
                for (int x = (y + colour) & 1; x < n; x += 2) {
                    const int i = y * n + x, field = spin[i] * neighbours(spin.data(), n, x, y);
                    if (field <= 0 || mix((unsigned)i, (unsigned)s, seed) < thresholds[field / 2 - 1])
                        spin[i] = (signed char)-spin[i];
                }
    int m = 0;
    for (signed char s : spin)
        m += s;
    const bool ok = spin == gpu && m == result[0];
    printf("lattice %dx%d, %d sweeps at beta 0.5\n", n, n, sweeps);
    printf("magnetisation %d energy %d\n", result[0], result[1] / 2);
    printf("energy per site %.4f\n", result[1] / 2.0 / (n * n));
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    GPU_CHECK(cudaFree(d));
    GPU_CHECK(cudaFree(sums));
    return ok ? 0 : 1;
}
