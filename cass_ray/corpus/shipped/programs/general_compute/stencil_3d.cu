// SPDX-License-Identifier: MIT
// Seven-point star stencil on a 3D grid (3D launch), applied several times with ping-pong
// buffers; the boundary stays fixed. The radius-one weights arrive as a kernel argument struct.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CUDA_TRY(call)                                                       \
    do {                                                                     \
        cudaError_t err_ = (call);                                           \
        if (err_ != cudaSuccess) {                                           \
            fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(err_)); \
            exit(2);                                                         \
        }                                                                    \
    } while (0)

struct Shape {
    int nx, ny, nz;
    __host__ __device__ int at(int x, int y, int z) const { return (z * ny + y) * nx + x; }
    int cells() const { return nx * ny * nz; }
};

struct Weights {
    float centre, axisX, axisY, axisZ;
};

__host__ __device__ inline float star(const float* u, Shape s, Weights w, int x, int y, int z)
{
    return w.centre * u[s.at(x, y, z)] + w.axisX * (u[s.at(x - 1, y, z)] + u[s.at(x + 1, y, z)]) +
           w.axisY * (u[s.at(x, y - 1, z)] + u[s.at(x, y + 1, z)]) +
           w.axisZ * (u[s.at(x, y, z - 1)] + u[s.at(x, y, z + 1)]);
}

__global__ void applyStar(const float* in, float* out, Shape s, Weights w)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= s.nx || y >= s.ny || z >= s.nz)
        return;
    const bool inner = x > 0 && y > 0 && z > 0 && x < s.nx - 1 && y < s.ny - 1 && z < s.nz - 1;
    out[s.at(x, y, z)] = inner ? star(in, s, w, x, y, z) : in[s.at(x, y, z)];
}

int main(int argc, char** argv)
{
    const int edge = argc > 1 ? atoi(argv[1]) : 24;
    const int steps = argc > 2 ? atoi(argv[2]) : 6;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    if (edge < 3 || steps < 0)
        return 2;
    const Shape shape{edge + 5, edge, edge - 1};
    const Weights weights{0.4f, 0.1f, 0.08f, 0.12f};

    std::vector<float> cpu(shape.cells()), scratch, gpu(shape.cells());
    for (float& v : cpu) {
        seed = seed * 214013u + 2531011u;
        v = (float)(seed >> 16 & 0x3ff) / 64.0f;
    }
    const size_t bytes = cpu.size() * sizeof(float);
    float *a, *b;
    CUDA_TRY(cudaMalloc(&a, bytes));
    CUDA_TRY(cudaMalloc(&b, bytes));
    CUDA_TRY(cudaMemcpy(a, cpu.data(), bytes, cudaMemcpyHostToDevice));
    const dim3 block(16, 4, 2);
    const dim3 grid((shape.nx + block.x - 1) / block.x, (shape.ny + block.y - 1) / block.y,
                    (shape.nz + block.z - 1) / block.z);
    for (int i = 0; i < steps; ++i) {
        applyStar<<<grid, block>>>(a, b, shape, weights);
        CUDA_TRY(cudaGetLastError());
        std::swap(a, b);
    }
    CUDA_TRY(cudaMemcpy(gpu.data(), a, bytes, cudaMemcpyDeviceToHost));

    for (int i = 0; i < steps; ++i) {
        scratch = cpu;
        for (int z = 1; z < shape.nz - 1; ++z)
            for (int y = 1; y < shape.ny - 1; ++y)
                for (int x = 1; x < shape.nx - 1; ++x)
                    scratch[shape.at(x, y, z)] = star(cpu.data(), shape, weights, x, y, z);
        cpu.swap(scratch);
    }
    double sum = 0.0, worst = 0.0;
    for (size_t i = 0; i < gpu.size(); ++i) {
        sum += gpu[i];
        worst = fmax(worst, fabs((double)gpu[i] - cpu[i]));
    }
    printf("grid %dx%dx%d after %d steps\n", shape.nx, shape.ny, shape.nz, steps);
    printf("mean %.4f centre %.4f\n", sum / gpu.size(), gpu[shape.at(shape.nx / 2, shape.ny / 2, shape.nz / 2)]);
    printf("verify: %s\n", worst < 1e-4 ? "OK" : "MISMATCH");
    CUDA_TRY(cudaFree(a));
    CUDA_TRY(cudaFree(b));
    return worst < 1e-4 ? 0 : 1;
}
