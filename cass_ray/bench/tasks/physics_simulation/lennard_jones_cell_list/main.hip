// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(call)                                                                  \
    do {                                                                             \
        hipError_t status = (call);                                                 \
        if (status != hipSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d: HIP error: %s\n", __FILE__, __LINE__,      \
                         hipGetErrorString(status));                                \
            std::exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

namespace cg = cooperative_groups;

// Positions and velocities are integers in units of 2^-20; the box is periodic with cells of 2^20.
const int kCells = 6, kSide = kCells << 20, kCapacity = 24;

__host__ __device__ inline int wrap(int v)
{
    v %= kSide;
    return v < 0 ? v + kSide : v;
}
__host__ __device__ inline int nearest(int d)
{
    return d > kSide / 2 ? d - kSide : d < -kSide / 2 ? d + kSide : d;
}

// Force of a softened repulsive and attractive pair, in integers only: r2 has 20 bits of fraction.
__host__ __device__ inline bool pairForce(int dx, int dy, int dz, int64_t force[3])
{
    const int64_t r2 = ((int64_t)dx * dx + (int64_t)dy * dy + (int64_t)dz * dz) >> 20;
    if (r2 >= (1 << 20)) return false;
    const int64_t inverse = ((int64_t)1 << 40) / (r2 + (1 << 16));       // 1 / (r2 + 1/16)
    const int64_t square = (inverse * inverse) >> 20;
    const int64_t strength = (square >> 3) - inverse;
    force[0] = (strength * dx) >> 20;
    force[1] = (strength * dy) >> 20;
    force[2] = (strength * dz) >> 20;
    return true;
}

__global__ void bin(const int3* positions, int n, int* counts, int* members)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int3 p = positions[i];
    const int cell = ((p.z >> 20) * kCells + (p.y >> 20)) * kCells + (p.x >> 20);
    const int slot = atomicAdd(&counts[cell], 1);
    if (slot < kCapacity) members[cell * kCapacity + slot] = i;
}

// Eight threads for each particle share the 27 cells around it.
__global__ void forces(const int3* positions, int n, const int* counts, const int* members, long long* result, unsigned* pairs)
{
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int i = (int)((blockIdx.x * blockDim.x + threadIdx.x) / 8);
    const int3 p = positions[i < n ? i : n - 1];
    int64_t sum[3] = {0, 0, 0};
    unsigned found = 0;
    for (int c = (int)tile.thread_rank(); c < 27; c += (int)tile.size()) {
        const int x = ((p.x >> 20) + c % 3 + kCells - 1) % kCells, y = ((p.y >> 20) + c / 3 % 3 + kCells - 1) % kCells;
        const int z = ((p.z >> 20) + c / 9 + kCells - 1) % kCells;
        const int cell = (z * kCells + y) * kCells + x;
        const int count = counts[cell] < kCapacity ? counts[cell] : kCapacity;
        for (int k = 0; k < count; ++k) {
            const int j = members[cell * kCapacity + k];
            if (j == i) continue;
            const int3 q = positions[j];
            int64_t f[3];
            if (pairForce(nearest(p.x - q.x), nearest(p.y - q.y), nearest(p.z - q.z), f)) {
                for (int a = 0; a < 3; ++a) sum[a] += f[a];
                ++found;
            }
        }
    }
    for (int d = 4; d > 0; d /= 2) {
        for (int a = 0; a < 3; ++a) sum[a] += tile.shfl_xor((long long)sum[a], d);
        found += tile.shfl_xor(found, d);
    }
    if (i < n && tile.thread_rank() == 0) {
        for (int a = 0; a < 3; ++a) result[3 * i + a] = sum[a];
        atomicAdd(pairs, found);
    }
}

__global__ void advance(int3* positions, int3* velocities, const long long* f, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int3 p = positions[i], v = velocities[i];
    v.x += (int)(f[3 * i] >> 8);
    v.y += (int)(f[3 * i + 1] >> 8);
    v.z += (int)(f[3 * i + 2] >> 8);
    p.x = wrap(p.x + (v.x >> 6));
    p.y = wrap(p.y + (v.y >> 6));
    p.z = wrap(p.z + (v.z >> 6));
    positions[i] = p;
    velocities[i] = v;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 400, steps = argc > 2 ? atoi(argv[2]) : 4;
    uint32_t s = argc > 3 ? (uint32_t)atoi(argv[3]) : 3u;
    if (n < 1 || n > 1000 || steps < 1) return 1;
    auto next = [&s]() { s = s * 1664525u + 1013904223u; return s; };
    std::vector<int3> p(n), v(n), gp(n), gv(n);
    for (int i = 0; i < n; ++i) {
        // A jittered lattice of ten positions a side.
        p[i].x = wrap((i % 10) * (kSide / 10) + (int)(next() >> 15));
        p[i].y = wrap((i / 10 % 10) * (kSide / 10) + (int)(next() >> 15));
        p[i].z = wrap((i / 100) * (kSide / 10) + (int)(next() >> 15));
        v[i].x = (int)(next() >> 12) - 524288;
        v[i].y = (int)(next() >> 12) - 524288;
        v[i].z = (int)(next() >> 12) - 524288;
    }
    const int cells = kCells * kCells * kCells;
    int3 *dp, *dv;
    int *dc, *dm;
    long long* df;
    unsigned *dpairs, pairs = 0, hostPairs = 0;
    CK(hipMalloc(&dp, n * sizeof(int3)));
    CK(hipMalloc(&dv, n * sizeof(int3)));
    CK(hipMalloc(&dc, cells * sizeof(int)));
    CK(hipMalloc(&dm, cells * kCapacity * sizeof(int)));
    CK(hipMalloc(&df, 3 * n * sizeof(long long)));
    CK(hipMalloc(&dpairs, sizeof(unsigned)));
    CK(hipMemset(dpairs, 0, sizeof(unsigned)));
    CK(hipMemcpy(dp, p.data(), n * sizeof(int3), hipMemcpyHostToDevice));
    CK(hipMemcpy(dv, v.data(), n * sizeof(int3), hipMemcpyHostToDevice));
    int fullest = 0;
    std::vector<int> counts(cells);
    for (int step = 0; step < steps; ++step) {
        CK(hipMemset(dc, 0, cells * sizeof(int)));
        bin<<<(n + 127) / 128, 128>>>(dp, n, dc, dm);
        forces<<<(8 * n + 127) / 128, 128>>>(dp, n, dc, dm, df, dpairs);
        advance<<<(n + 127) / 128, 128>>>(dp, dv, df, n);
        CK(hipGetLastError());
        CK(hipMemcpy(counts.data(), dc, cells * sizeof(int), hipMemcpyDeviceToHost));
        for (int c : counts) fullest = c > fullest ? c : fullest;
        std::vector<int64_t> f(3 * n, 0);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                int64_t g[3];
                if (i == j || !pairForce(nearest(p[i].x - p[j].x), nearest(p[i].y - p[j].y), nearest(p[i].z - p[j].z), g)) continue;
                for (int a = 0; a < 3; ++a) f[3 * i + a] += g[a];
                ++hostPairs;
            }
        for (int i = 0; i < n; ++i) {
            v[i].x += (int)(f[3 * i] >> 8);
            v[i].y += (int)(f[3 * i + 1] >> 8);
            v[i].z += (int)(f[3 * i + 2] >> 8);
            p[i].x = wrap(p[i].x + (v[i].x >> 6));
            p[i].y = wrap(p[i].y + (v[i].y >> 6));
            p[i].z = wrap(p[i].z + (v[i].z >> 6));
        }
    }
    CK(hipMemcpy(gp.data(), dp, n * sizeof(int3), hipMemcpyDeviceToHost));
    CK(hipMemcpy(gv.data(), dv, n * sizeof(int3), hipMemcpyDeviceToHost));
    CK(hipMemcpy(&pairs, dpairs, sizeof pairs, hipMemcpyDeviceToHost));
    int wrong = pairs != hostPairs || fullest > kCapacity;
    uint32_t fold = 0;
    long long momentum = 0;
    for (int i = 0; i < n; ++i) {
        wrong += gp[i].x != p[i].x || gp[i].y != p[i].y || gp[i].z != p[i].z;
        wrong += gv[i].x != v[i].x || gv[i].y != v[i].y || gv[i].z != v[i].z;
        fold = fold * 31u + (uint32_t)gp[i].x + 3u * (uint32_t)gp[i].y + 5u * (uint32_t)gp[i].z + 7u * (uint32_t)gv[i].x;
        momentum += gv[i].x + gv[i].y + gv[i].z;
    }
    printf("particles %d steps %d pairs %u fullest cell %d\n", n, steps, pairs, fullest);
    for (int i = 0; i < n; i += n / 4 + 1) printf("particle %d: %d %d %d\n", i, gp[i].x, gp[i].y, gp[i].z);
    printf("momentum %lld fold %08x wrong %d\n", momentum, fold, wrong);
    hipFree(dp); hipFree(dv); hipFree(dc); hipFree(dm); hipFree(df); hipFree(dpairs);
    return wrong ? 1 : 0;
}
