// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Softened gravity with cooperative group tiles that share the sum for a body, leapfrog steps
// and conserved momentum.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(call)                                                                  \
    do {                                                                             \
        const hipError_t status_ = (call);                                          \
        if (status_ != hipSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status_)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

struct Random {
    unsigned counter;
    explicit Random(unsigned seed) : counter(seed * 7919u) {}
    unsigned next()
    {
        unsigned z = counter += 0x9e3779b9u;
        z = (z ^ (z >> 16)) * 0x21f0aaadu;
        z = (z ^ (z >> 15)) * 0x735a2d97u;
        return z ^ (z >> 15);
    }
    unsigned below(unsigned bound) { return (unsigned)(((unsigned long long)next() * bound) >> 32); }
};

static int int_arg(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* to_device(const std::vector<T>& values)
{
    T* memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    HIP_CHECK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* device_zeros(size_t count)
{
    T* memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, count * sizeof(T)));
    HIP_CHECK(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> to_host(const T* memory, size_t count)
{
    std::vector<T> values(count);
    HIP_CHECK(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

static int finish(bool right)
{
    HIP_CHECK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

namespace cg = cooperative_groups;
#define BLOCK 64
#define TILE 8

// A tile of eight threads accumulates the acceleration of one body.
__global__ void __launch_bounds__(BLOCK) accelerate(const double4* bodies, double3* acceleration, int n, int chunk)
{
    extern __shared__ double4 shared[];
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<TILE> tile = cg::tiled_partition<TILE>(block);
    const int body = (int)((blockIdx.x * blockDim.x + threadIdx.x) / TILE);
    const double4 me = bodies[body < n ? body : 0];
    double ax = 0.0, ay = 0.0, az = 0.0;
    for (int start = 0; start < n; start += chunk) {
        const int count = min(chunk, n - start);
        for (int i = block.thread_rank(); i < count; i += block.size())
            shared[i] = bodies[start + i];
        block.sync();
        for (int j = tile.thread_rank(); j < count; j += TILE) {
            const double4 other = shared[j];
            const double dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            const double square = dx * dx + dy * dy + dz * dz + 0.01;
            const double pull = other.w / (square * sqrt(square));
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        block.sync();
    }
    for (int offset = TILE / 2; offset > 0; offset /= 2) {
        ax += tile.shfl_down(ax, offset);
        ay += tile.shfl_down(ay, offset);
        az += tile.shfl_down(az, offset);
    }
    if (tile.thread_rank() == 0 && body < n)
        acceleration[body] = make_double3(ax, ay, az);
}

__global__ void leap(double4* bodies, double3* velocity, const double3* acceleration, int n, double h)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    velocity[i].x += h * acceleration[i].x;
    velocity[i].y += h * acceleration[i].y;
    velocity[i].z += h * acceleration[i].z;
    bodies[i].x += h * velocity[i].x;
    bodies[i].y += h * velocity[i].y;
    bodies[i].z += h * velocity[i].z;
}

int main(int argc, char** argv)
{
    const int n = int_arg(argc, argv, 1, 100);
    const int steps = int_arg(argc, argv, 2, 4);
    Random random((unsigned)int_arg(argc, argv, 3, 1));
    if (n < 2 || steps < 1)
        return 2;
    std::vector<double4> bodies(n);
    for (double4& b : bodies) {
        b.x = random.below(4096) / 1024.0;
        b.y = random.below(4096) / 1024.0;
        b.z = random.below(4096) / 1024.0;
        b.w = (1 + random.below(8)) / 16.0;
    }
    double4* dBodies = to_device(bodies);
    double3* dVelocity = device_zeros<double3>(n);
    double3* dAcceleration = device_zeros<double3>(n);
    const double h = 0.01;
    const int chunk = 48;
    double worst = 0;
    for (int s = 0; s < steps; ++s) {
        accelerate<<<(n * TILE + BLOCK - 1) / BLOCK, BLOCK, chunk * sizeof(double4)>>>(dBodies, dAcceleration, n,
                                                                                      chunk);
        leap<<<(n + 63) / 64, 64>>>(dBodies, dVelocity, dAcceleration, n, h);
        HIP_CHECK(hipGetLastError());
        if (s == 0) {
            const std::vector<double3> a = to_host(dAcceleration, n);
            for (int i = 0; i < n; ++i) {
                double ax = 0, az = 0;
                for (int j = 0; j < n; ++j) {
                    const double dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y,
                                 dz = bodies[j].z - bodies[i].z;
                    const double square = dx * dx + dy * dy + dz * dz + 0.01;
                    ax += bodies[j].w * dx / (square * sqrt(square));
                    az += bodies[j].w * dz / (square * sqrt(square));
                }
                worst = std::max(worst, fabs(ax - a[i].x) + fabs(az - a[i].z));
            }
        }
    }
    const std::vector<double4> end = to_host(dBodies, n);
    const std::vector<double3> velocity = to_host(dVelocity, n);
    double momentum = 0, kinetic = 0, spread = 0, where[3] = {};
    double total[3] = {};
    for (int i = 0; i < n; ++i) {
        total[0] += end[i].w * velocity[i].x;
        total[1] += end[i].w * velocity[i].y;
        total[2] += end[i].w * velocity[i].z;
        kinetic += 0.5 * end[i].w * (velocity[i].x * velocity[i].x + velocity[i].y * velocity[i].y +
                                     velocity[i].z * velocity[i].z);
        where[0] += end[i].x * (1 + i % 3);
        where[1] += end[i].y * (1 + i % 4);
        where[2] += end[i].z * (1 + i % 5);
        spread += fabs(end[i].x - bodies[i].x);
    }
    momentum = fabs(total[0]) + fabs(total[1]) + fabs(total[2]);
    printf("bodies %d, steps %d, momentum kept: %s\n", n, steps, momentum < 1e-9 ? "yes" : "no");
    printf("kinetic %.6f, positions %.6f %.6f %.6f, moved %.6f\n", kinetic, where[0], where[1], where[2], spread);
    for (int i = 0; i < n; i += n / 4 + 1)
        printf("body %d at %.6f %.6f %.6f\n", i, end[i].x, end[i].y, end[i].z);
    return finish(worst < 1e-7 && momentum < 1e-9);
}
