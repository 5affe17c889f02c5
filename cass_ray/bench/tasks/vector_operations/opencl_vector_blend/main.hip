// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// The kernels are the HIP twins of those in kernel.cl, which this task is about.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

template <typename T>
static T* to_device(const std::vector<T>& values)
{
    T* pointer = nullptr;
    CHECK(hipMalloc((void**)&pointer, values.size() * sizeof(T)));
    CHECK(hipMemcpy(pointer, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return pointer;
}

template <typename T>
static void to_host(std::vector<T>& values, const T* pointer)
{
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    CHECK(hipMemcpy(values.data(), pointer, values.size() * sizeof(T), hipMemcpyDeviceToHost));
}

static unsigned next(unsigned& state)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static __device__ float blend_one(float a, float b, int mask, float t, float low, float high)
{
    const float mixed = fmaf(t, b - a, a);
    return (mask & 1) == 1 ? fminf(fmaxf(mixed, low), high) : 0.0f;
}

extern "C" __global__ void blend(const float4* a, const float4* b, const int4* mask, float t,
                                 float low, float high, unsigned n, float4* out)
{
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float4 x = a[i], y = b[i];
    const int4 m = mask[i];
    out[i] = make_float4(blend_one(x.x, y.x, m.x, t, low, high), blend_one(x.y, y.y, m.y, t, low, high),
                         blend_one(x.z, y.z, m.z, t, low, high), blend_one(x.w, y.w, m.w, t, low, high));
}

extern "C" __global__ void swizzle_sum(const float4* values, unsigned n, float* sums)
{
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t stride = gridDim.x * blockDim.x;
    float x = 0.0f, y = 0.0f, z = 0.0f, w = 0.0f;
    for (size_t k = i; k < n; k += stride) {
        const float4 v = values[k];
        x += v.w * 1.0f;
        y += v.z * 2.0f;
        z += v.y * 3.0f;
        w += v.x * 4.0f;
    }
    sums[i] = x + y + z + w;
}

int main(int argc, char** argv)
{
    const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1000u;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 7u;
    std::vector<float4> a(n), b(n), out(n);
    std::vector<int4> mask(n);
    auto draw = [&] { return (float)((int)(next(seed) % 2001u) - 1000) / 4.0f; };
    for (unsigned i = 0; i < n; ++i) {
        float d[8];
        int m[4];
        for (float& value : d)
            value = draw();
        for (int& bits : m)
            bits = (int)next(seed);
        a[i] = make_float4(d[0], d[1], d[2], d[3]);
        b[i] = make_float4(d[4], d[5], d[6], d[7]);
        mask[i] = make_int4(m[0], m[1], m[2], m[3]);
    }
    const unsigned block = 128, grid = (n + block - 1) / block, lanes = 64;
    float4 *da = to_device(a), *db = to_device(b), *dout = to_device(out);
    int4* dmask = to_device(mask);
    std::vector<float> sums(lanes);
    float* dsums = to_device(sums);
    blend<<<grid, block>>>(da, db, dmask, 0.25f, -200.0f, 150.5f, n, dout);
    swizzle_sum<<<1, lanes>>>(dout, n, dsums);
    to_host(out, dout);
    to_host(sums, dsums);
    for (unsigned i = 0; i < n; i += n / 6 + 1)
        printf("%u: %.4f %.4f %.4f %.4f\n", i, out[i].x, out[i].y, out[i].z, out[i].w);
    double total = 0.0;
    for (unsigned i = 0; i < lanes; ++i)
        total += (double)sums[i] * (i + 1);
    printf("lane 0 %.4f, lane 63 %.4f, total %.4f\n", sums[0], sums[63], total);
    return 0;
}
