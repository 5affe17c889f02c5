// SPDX-License-Identifier: MIT
// Gravitational n-body: bodies are staged through shared memory a tile at a time, and velocities
// and positions advance with a semi-implicit Euler step. Reports the energy before and after.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                   \
    do {                                                                                   \
        cudaError_t rc = (call);                                                           \
        if (rc != cudaSuccess) {                                                           \
            fprintf(stderr, "nbody: %s (line %d)\n", cudaGetErrorString(rc), __LINE__);    \
            exit(2);                                                                       \
        }                                                                                  \
    } while (0)

constexpr int kTile = 64;
constexpr float kSoftening = 0.05f;
constexpr float kStep = 0.002f;

__host__ __device__ inline float3 pull(float4 self, float4 other, float3 acc)
{
    const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
    const float r2 = dx * dx + dy * dy + dz * dz + kSoftening * kSoftening;
    const float inv = 1.0f / sqrtf(r2);
    const float s = other.w * inv * inv * inv;
    return make_float3(acc.x + s * dx, acc.y + s * dy, acc.z + s * dz);
}

// Position in xyz, mass in w.
__global__ __launch_bounds__(kTile) void kick(const float4* __restrict__ body, float3* __restrict__ velocity, int n)
{
    __shared__ float4 tile[kTile];
    const int i = blockIdx.x * kTile + threadIdx.x;
    const float4 self = i < n ? body[i] : make_float4(0.f, 0.f, 0.f, 0.f);
    float3 acc = make_float3(0.f, 0.f, 0.f);
    for (int base = 0; base < n; base += kTile) {
        const int j = base + threadIdx.x;
        tile[threadIdx.x] = j < n ? body[j] : make_float4(0.f, 0.f, 0.f, 0.f);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < kTile; ++k)
            acc = pull(self, tile[k], acc);
        __syncthreads();
    }
    if (i < n) {
        float3 v = velocity[i];
        v.x += kStep * acc.x;
        v.y += kStep * acc.y;
        v.z += kStep * acc.z;
        velocity[i] = v;
    }
}

__global__ void drift(float4* body, const float3* velocity, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        body[i].x += kStep * velocity[i].x;
        body[i].y += kStep * velocity[i].y;
        body[i].z += kStep * velocity[i].z;
    }
}

static double energy(const std::vector<float4>& p, const std::vector<float3>& v)
{
    double e = 0.0;
    for (size_t i = 0; i < p.size(); ++i) {
        e += 0.5 * p[i].w * ((double)v[i].x * v[i].x + (double)v[i].y * v[i].y + (double)v[i].z * v[i].z);
        for (size_t j = 0; j < i; ++j) {
            const double dx = p[i].x - p[j].x, dy = p[i].y - p[j].y, dz = p[i].z - p[j].z;
            e -= (double)p[i].w * p[j].w / sqrt(dx * dx + dy * dy + dz * dz + kSoftening * kSoftening);
        }
    }
    return e;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 256;
    const int steps = argc > 2 ? atoi(argv[2]) : 3;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    if (n < 2 || steps < 1)
        return 2;
    auto uniform = [&seed]() {
        seed = seed * 1664525u + 1013904223u;
        return (float)(seed >> 8) / 16777216.0f;
    };
    std::vector<float4> body(n), cpuBody;
    std::vector<float3> velocity(n), cpuVelocity;
    for (int i = 0; i < n; ++i) {
        body[i].x = 2.0f * uniform() - 1.0f;
        body[i].y = 2.0f * uniform() - 1.0f;
        body[i].z = 2.0f * uniform() - 1.0f;
        body[i].w = (0.5f + uniform()) / n;
        velocity[i] = make_float3(-0.3f * body[i].y, 0.3f * body[i].x, 0.0f);
    }
    cpuBody = body;
    cpuVelocity = velocity;
    const double before = energy(body, velocity);

    float4* dBody;
    float3* dVelocity;
    CUDA_CHECK(cudaMalloc(&dBody, n * sizeof(float4)));
    CUDA_CHECK(cudaMalloc(&dVelocity, n * sizeof(float3)));
    CUDA_CHECK(cudaMemcpy(dBody, body.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dVelocity, velocity.data(), n * sizeof(float3), cudaMemcpyHostToDevice));
    const int grid = (n + kTile - 1) / kTile;
    for (int s = 0; s < steps; ++s) {
        kick<<<grid, kTile>>>(dBody, dVelocity, n);
        drift<<<grid, kTile>>>(dBody, dVelocity, n);
    }
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(body.data(), dBody, n * sizeof(float4), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(velocity.data(), dVelocity, n * sizeof(float3), cudaMemcpyDeviceToHost));

    for (int s = 0; s < steps; ++s) {
        for (int i = 0; i < n; ++i) {
            float3 acc = make_float3(0.f, 0.f, 0.f);
            for (int j = 0; j < n; ++j)
                acc = pull(cpuBody[i], cpuBody[j], acc);
            cpuVelocity[i].x += kStep * acc.x;
            cpuVelocity[i].y += kStep * acc.y;
            cpuVelocity[i].z += kStep * acc.z;
        }
        for (int i = 0; i < n; ++i) {
            cpuBody[i].x += kStep * cpuVelocity[i].x;
            cpuBody[i].y += kStep * cpuVelocity[i].y;
            cpuBody[i].z += kStep * cpuVelocity[i].z;
        }
    }
    double worst = 0.0;
    for (int i = 0; i < n; ++i)
        worst = fmax(worst, fmax(fabs(body[i].x - cpuBody[i].x), fabs(velocity[i].y - cpuVelocity[i].y)));
    const double after = energy(body, velocity);
    printf("bodies %d steps %d\n", n, steps);
    printf("energy before %.4f after %.4f\n", before, after);
    printf("body 0 at %.4f %.4f %.4f\n", body[0].x, body[0].y, body[0].z);
    printf("verify: %s\n", worst < 1e-4 ? "OK" : "MISMATCH");
    CUDA_CHECK(cudaFree(dBody));
    CUDA_CHECK(cudaFree(dVelocity));
    return worst < 1e-4 ? 0 : 1;
}
