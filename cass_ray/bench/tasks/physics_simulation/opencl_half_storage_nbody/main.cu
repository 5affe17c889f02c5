// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// The kernels are the CUDA twins of those in kernel.cl, which this task is about.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <utility>
#include <cuda_fp16.h>

#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "CUDA failure %d at line %d: %s\n", (int)e_, __LINE__, cudaGetErrorString(e_)); \
    exit(3); } } while (0)

template <typename T>
static T* to_device(const std::vector<T>& values)
{
    T* pointer = nullptr;
    CHECK(cudaMalloc((void**)&pointer, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return pointer;
}

template <typename T>
static void to_host(std::vector<T>& values, const T* pointer)
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(values.data(), pointer, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
}

static unsigned next(unsigned& state)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

#define TILE 64

static __device__ float4 load_body(const unsigned short* bodies, unsigned i)
{
    const __half* at = reinterpret_cast<const __half*>(bodies) + 4 * i;
    return make_float4(__half2float(at[0]), __half2float(at[1]), __half2float(at[2]), __half2float(at[3]));
}

extern "C" __global__ void __launch_bounds__(TILE)
step(const unsigned short* bodies, unsigned short* moved, float4* velocity, unsigned n, float dt)
{
    __shared__ float4 tile[TILE];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x;
    const float4 nobody = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float4 me = i < n ? load_body(bodies, i) : nobody;
    float3 pull = make_float3(0.0f, 0.0f, 0.0f);
    for (unsigned start = 0; start < n; start += TILE) {
        tile[lane] = start + lane < n ? load_body(bodies, start + lane) : nobody;
        __syncthreads();
        for (unsigned k = 0; k < TILE; ++k) {
            const float4 other = tile[k];
            const float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
            const float inverse = 1.0f / sqrtf(fmaf(x, x, fmaf(y, y, fmaf(z, z, 0.5f))));
            const float weight = other.w * inverse * inverse * inverse;
            pull = make_float3(fmaf(x, weight, pull.x), fmaf(y, weight, pull.y), fmaf(z, weight, pull.z));
        }
        __syncthreads();
    }
    if (i >= n)
        return;
    float4 v = velocity[i];
    v.x = fmaf(pull.x, dt, v.x);
    v.y = fmaf(pull.y, dt, v.y);
    v.z = fmaf(pull.z, dt, v.z);
    velocity[i] = v;
    __half* at = reinterpret_cast<__half*>(moved) + 4 * i;
    at[0] = __float2half_rn(fmaf(v.x, dt, me.x));
    at[1] = __float2half_rn(fmaf(v.y, dt, me.y));
    at[2] = __float2half_rn(fmaf(v.z, dt, me.z));
    at[3] = __float2half_rn(me.w);
}

extern "C" __global__ void kinetic(const float4* velocity, const unsigned short* bodies, unsigned n,
                                   double* energy)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const double x = velocity[i].x, y = velocity[i].y, z = velocity[i].z;
    energy[i] = 0.5 * (double)load_body(bodies, i).w * fma(x, x, fma(y, y, z * z));
}

int main(int argc, char** argv)
{
    const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 192u;
    const int steps = argc > 2 ? atoi(argv[2]) : 4;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 7u;
    std::vector<unsigned short> bodies(4 * n);
    for (unsigned i = 0; i < 4 * n; ++i) {
        const float value = i % 4 == 3 ? (float)(next(seed) % 64u + 1u) / 64.0f
                                       : (float)((int)(next(seed) % 1024u) - 512) / 32.0f;
        const __half rounded = __float2half(value);
        bodies[i] = *reinterpret_cast<const unsigned short*>(&rounded);
    }
    std::vector<float4> velocity(n, make_float4(0.0f, 0.0f, 0.0f, 0.0f));
    std::vector<double> energy(n);
    unsigned short *dbodies = to_device(bodies), *dmoved = to_device(bodies);
    float4* dvelocity = to_device(velocity);
    double* denergy = to_device(energy);
    const unsigned grid = (n + TILE - 1) / TILE;
    for (int s = 0; s < steps; ++s) {
        step<<<grid, TILE>>>(dbodies, dmoved, dvelocity, n, 0.125f);
        kinetic<<<grid, TILE>>>(dvelocity, dmoved, n, denergy);
        to_host(energy, denergy);
        double total = 0.0;
        for (double each : energy)
            total += each;
        printf("step %d: kinetic energy %.6e\n", s, total);
        std::swap(dbodies, dmoved);
    }
    to_host(velocity, dvelocity);
    for (unsigned i = 0; i < n; i += n / 4 + 1)
        printf("%u: %.5e %.5e %.5e\n", i, velocity[i].x, velocity[i].y, velocity[i].z);
    return 0;
}
