// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(call)                                                                  \
    do {                                                                             \
        hipError_t status = (call);                                                 \
        if (status != hipSuccess) {                                                 \
            fprintf(stderr, "%s:%d: HIP error: %s\n", __FILE__, __LINE__,      \
                         hipGetErrorString(status));                                \
            exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

struct Body {
    double x, y, z, m;
};
#define SOFTENING 0.05

template <int kBlock>
__global__ void accelerations(const Body* bodies, double* a, double* potentials, int n)
{
    __shared__ Body tile[kBlock];
    const int i = blockIdx.x * kBlock + threadIdx.x;
    const Body own = bodies[i < n ? i : n - 1];
    double ax = 0.0, ay = 0.0, az = 0.0, potential = 0.0;
    for (int base = 0; base < n; base += kBlock) {
        if (base + (int)threadIdx.x < n) tile[threadIdx.x] = bodies[base + threadIdx.x];
        __syncthreads();
        const int count = n - base < kBlock ? n - base : kBlock;
        for (int k = 0; k < count; ++k) {
            const double dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
            const double inverse = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
            const double pull = tile[k].m * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
            if (base + k != i) potential -= tile[k].m * own.m * inverse;
        }
        __syncthreads();
    }
    if (i < n) {
        a[3 * i] = ax;
        a[3 * i + 1] = ay;
        a[3 * i + 2] = az;
        potentials[i] = potential * 0.5;
    }
}

__global__ void kick(double* v, const double* a, double dt, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 3 * n) v[i] += a[i] * dt;
}

__global__ void drift(Body* bodies, const double* v, double dt, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bodies[i].x += v[3 * i] * dt;
    bodies[i].y += v[3 * i + 1] * dt;
    bodies[i].z += v[3 * i + 2] * dt;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 100, steps = argc > 2 ? atoi(argv[2]) : 6;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    if (n < 1 || steps < 1) return 1;
    auto next = [&s]() { s = s * 1664525u + 1013904223u; return (double)(s >> 8) / 16777216.0 - 0.5; };
    std::vector<Body> bodies(n);
    std::vector<double> v(3 * n), potentials(n);
    for (int i = 0; i < n; ++i) {
        Body& b = bodies[i];
        b.x = 4.0 * next(); b.y = 4.0 * next(); b.z = 4.0 * next();
        b.m = (1.0 + next()) / n;
        for (int c = 0; c < 3; ++c) v[3 * i + c] = 0.2 * next();
    }
    Body* db;
    double *dv, *da, *dp;
    CK(hipMalloc(&db, n * sizeof(Body)));
    CK(hipMalloc(&dv, 3 * n * sizeof(double)));
    CK(hipMalloc(&da, 3 * n * sizeof(double)));
    CK(hipMalloc(&dp, n * sizeof(double)));
    CK(hipMemcpy(db, bodies.data(), n * sizeof(Body), hipMemcpyHostToDevice));
    CK(hipMemcpy(dv, v.data(), 3 * n * sizeof(double), hipMemcpyHostToDevice));
    auto energy = [&](double* momentum) {
        CK(hipMemcpy(bodies.data(), db, n * sizeof(Body), hipMemcpyDeviceToHost));
        CK(hipMemcpy(v.data(), dv, 3 * n * sizeof(double), hipMemcpyDeviceToHost));
        CK(hipMemcpy(potentials.data(), dp, n * sizeof(double), hipMemcpyDeviceToHost));
        double e = 0.0;
        momentum[0] = momentum[1] = momentum[2] = 0.0;
        for (int i = 0; i < n; ++i) {
            e += potentials[i];
            for (int c = 0; c < 3; ++c) {
                e += 0.5 * bodies[i].m * v[3 * i + c] * v[3 * i + c];
                momentum[c] += bodies[i].m * v[3 * i + c];
            }
        }
        return e;
    };
    const int block = 64, grid = (n + block - 1) / block, grid3 = (3 * n + block - 1) / block;
    const double dt = 0.01;
    double before[3], after[3];
    accelerations<64><<<grid, block>>>(db, da, dp, n);
    CK(hipGetLastError());
    const double first = energy(before);
    for (int step = 0; step < steps; ++step) {
        kick<<<grid3, block>>>(dv, da, 0.5 * dt, n);
        drift<<<grid, block>>>(db, dv, dt, n);
        accelerations<64><<<grid, block>>>(db, da, dp, n);
        kick<<<grid3, block>>>(dv, da, 0.5 * dt, n);
        CK(hipGetLastError());
    }
    const double last = energy(after);
    double drifted = 0.0;
    for (int c = 0; c < 3; ++c) drifted += fabs(after[c] - before[c]);
    printf("bodies %d steps %d\nenergy %.9f -> %.9f\n", n, steps, first, last);
    printf("momentum %.9f %.9f %.9f\n", after[0] + 1.0, after[1] + 1.0, after[2] + 1.0);
    for (int i = 0; i < n; i += n / 4 + 1) printf("body %d: %.9f %.9f %.9f\n", i, bodies[i].x, bodies[i].y, bodies[i].z);
    const bool ok = drifted < 1e-9 && fabs(last - first) < 1e-3 * (1.0 + fabs(first));
    printf("conserved: %s\n", ok ? "yes" : "no");
    hipFree(db); hipFree(dv); hipFree(da); hipFree(dp);
    return ok ? 0 : 1;
}
