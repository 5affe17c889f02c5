// SPDX-License-Identifier: MIT
// One-dimensional electrostatic particle-in-cell loop: charge deposit with 64-bit fixed-point
// atomics (order independent), field by prefix sum of the charge, linear gather and push.
// Starts as two counter-streaming beams.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CALL(c)                                                        \
    do {                                                                    \
        cudaError_t e = (c);                                                \
        if (e != cudaSuccess) {                                             \
            fprintf(stderr, "PIC line %d: %s\n", __LINE__, cudaGetErrorString(e)); \
            exit(2);                                                        \
        }                                                                   \
    } while (0)

constexpr int kCells = 64;
constexpr double kFixed = 1048576.0;
constexpr double kStep = 0.1;

struct Particle {
    double x, v;
};

__global__ void deposit(const Particle* p, int n, unsigned long long* charge)
{
    __shared__ unsigned long long local[kCells];
    for (int c = threadIdx.x; c < kCells; c += blockDim.x)
        local[c] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int cell = (int)p[i].x;
        const unsigned long long right = (unsigned long long)((p[i].x - cell) * kFixed);
        atomicAdd(&local[cell], (unsigned long long)kFixed - right);
        atomicAdd(&local[(cell + 1) % kCells], right);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < kCells; c += blockDim.x)
        atomicAdd(&charge[c], local[c]);
}

// The electric field is the running sum of (density - 1), shifted to zero mean.
__global__ void solveField(const unsigned long long* charge, int n, double* field)
{
    __shared__ double e[kCells];
    if (threadIdx.x == 0) {
        double running = 0.0, mean = 0.0;
        for (int c = 0; c < kCells; ++c) {
            running += (double)charge[c] / kFixed * kCells / n - 1.0;
            e[c] = running;
            mean += running;
        }
        for (int c = 0; c < kCells; ++c)
            e[c] -= mean / kCells;
    }
    __syncthreads();
    field[threadIdx.x] = e[threadIdx.x];
}

__host__ __device__ inline void pushOne(Particle& p, const double* field)
{
    const int cell = (int)p.x;
    const double w = p.x - cell;
    p.v -= kStep * ((1.0 - w) * field[cell] + w * field[(cell + 1) % kCells]);
    p.x += kStep * p.v;
    if (p.x < 0.0)
        p.x += kCells;
    if (p.x >= kCells)
        p.x -= kCells;
}

__global__ void push(Particle* p, int n, const double* field)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        pushOne(p[i], field);
}

static void referenceStep(std::vector<Particle>& p)
{
    std::vector<double> rho(kCells, 0.0), field(kCells);
    for (const Particle& q : p) {
        const int cell = (int)q.x;
        const double right = floor((q.x - cell) * kFixed) / kFixed;
        rho[cell] += 1.0 - right;
        rho[(cell + 1) % kCells] += right;
    }
    double running = 0.0, mean = 0.0;
    for (int c = 0; c < kCells; ++c) {
        running += rho[c] * kCells / p.size() - 1.0;
        field[c] = running;
        mean += running;
    }
    for (double& f : field)
        f -= mean / kCells;
    for (Particle& q : p)
        pushOne(q, field.data());
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 4000;
    const int steps = argc > 2 ? atoi(argv[2]) : 8;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 21u;
    if (n < 2 || steps < 1)
        return 2;
    std::vector<Particle> particles(n), gpu(n);
    for (int i = 0; i < n; ++i) {
        seed = seed * 1103515245u + 12345u;
        particles[i].x = (double)(seed >> 8) / 16777216.0 * kCells;
        particles[i].v = i % 2 ? 1.0 : -1.0;
    }
    Particle* p;
    unsigned long long* charge;
    double* field;
    CUDA_CALL(cudaMalloc(&p, n * sizeof(Particle)));
    CUDA_CALL(cudaMalloc(&charge, kCells * sizeof *charge));
    CUDA_CALL(cudaMalloc(&field, kCells * sizeof *field));
    CUDA_CALL(cudaMemcpy(p, particles.data(), n * sizeof(Particle), cudaMemcpyHostToDevice));
    for (int s = 0; s < steps; ++s) {
        CUDA_CALL(cudaMemset(charge, 0, kCells * sizeof *charge));
        deposit<<<(n + 127) / 128, 128>>>(p, n, charge);
        solveField<<<1, kCells>>>(charge, n, field);
        push<<<(n + 127) / 128, 128>>>(p, n, field);
        CUDA_CALL(cudaGetLastError());
    }
    CUDA_CALL(cudaMemcpy(gpu.data(), p, n * sizeof(Particle), cudaMemcpyDeviceToHost));

    for (int s = 0; s < steps; ++s)
        referenceStep(particles);
    double kinetic = 0.0, momentum = 0.0, worst = 0.0;
    for (int i = 0; i < n; ++i) {
        kinetic += 0.5 * gpu[i].v * gpu[i].v;
        momentum += gpu[i].v;
        worst = fmax(worst, fabs(gpu[i].v - particles[i].v));
    }
    printf("particles %d cells %d steps %d\n", n, kCells, steps);
    printf("kinetic energy %.3f mean velocity %.4f\n", kinetic, momentum / n + 0.0);
    printf("verify: %s\n", worst < 1e-4 ? "OK" : "MISMATCH");
    CUDA_CALL(cudaFree(p));
    CUDA_CALL(cudaFree(charge));
    CUDA_CALL(cudaFree(field));
    return worst < 1e-4 ? 0 : 1;
}
