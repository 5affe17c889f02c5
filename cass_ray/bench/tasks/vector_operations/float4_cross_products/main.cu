// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkCuda(cudaError_t code, const char* what, int line) {
    if (code != cudaSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(code));
        exit(2);
    }
}
#define CHECK(expr) checkCuda((expr), #expr, __LINE__)
#define BLOCK 128

static __host__ __device__ inline float4 cross(float4 a, float4 b)
{
    return make_float4(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, 0.0f);
}
static __host__ __device__ inline float dot3(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// w of a result holds a . b; parity and sign of the three components go to a uchar4.
__global__ void crossKernel(const float4* a, const float4* b, float4* out, uchar4* tags, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float4 u = a[i], v = b[i];
    float4 c = cross(u, v);
    c.w = dot3(u, v);
    out[i] = c;
    const int3 k = make_int3((int)c.x, (int)c.y, (int)c.z);
    tags[i] = make_uchar4((unsigned char)(k.x & 1), (unsigned char)(k.y & 1),
                          (unsigned char)(k.z & 1), (unsigned char)((k.x < 0) + 2 * (k.y < 0) + 4 * (k.z < 0)));
}

__global__ void extremesKernel(const float4* values, int n, float4* low, float4* high)
{
    __shared__ float4 lo[BLOCK], hi[BLOCK];
    const int t = threadIdx.x;
    float4 mn = make_float4(3e38f, 3e38f, 3e38f, 3e38f), mx = make_float4(-3e38f, -3e38f, -3e38f, -3e38f);
    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK) {
        const float4 v = values[i];
        mn.x = fminf(mn.x, v.x); mn.y = fminf(mn.y, v.y); mn.z = fminf(mn.z, v.z); mn.w = fminf(mn.w, v.w);
        mx.x = fmaxf(mx.x, v.x); mx.y = fmaxf(mx.y, v.y); mx.z = fmaxf(mx.z, v.z); mx.w = fmaxf(mx.w, v.w);
    }
    lo[t] = mn;
    hi[t] = mx;
    __syncthreads();
    for (int d = BLOCK / 2; d > 0; d >>= 1) {
        if (t < d) {
            const float4 p = lo[t + d], q = hi[t + d];
            lo[t] = make_float4(fminf(lo[t].x, p.x), fminf(lo[t].y, p.y), fminf(lo[t].z, p.z), fminf(lo[t].w, p.w));
            hi[t] = make_float4(fmaxf(hi[t].x, q.x), fmaxf(hi[t].y, q.y), fmaxf(hi[t].z, q.z), fmaxf(hi[t].w, q.w));
        }
        __syncthreads();
    }
    if (t == 0) {
        low[blockIdx.x] = lo[0];
        high[blockIdx.x] = hi[0];
    }
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 5000;
    unsigned s = argc > 2 ? (unsigned)atoi(argv[2]) : 17u;
    if (n < 1) return 1;
    std::vector<float4> a(n), b(n), c(n);
    std::vector<uchar4> tags(n);
    auto next = [&s]() { s = s * 22695477u + 1u; return (float)((int)(s >> 22) - 512); };
    for (int i = 0; i < n; ++i) {
        a[i].x = next(); a[i].y = next(); a[i].z = next(); a[i].w = 0.0f;
        b[i].x = next(); b[i].y = next(); b[i].z = next(); b[i].w = 0.0f;
    }
    float4 *da, *db, *dc, *dlow;
    uchar4* dt;
    const int grid = 6;
    CHECK(cudaMalloc(&da, n * sizeof(float4)));
    CHECK(cudaMalloc(&db, n * sizeof(float4)));
    CHECK(cudaMalloc(&dc, n * sizeof(float4)));
    CHECK(cudaMalloc(&dt, n * sizeof(uchar4)));
    CHECK(cudaMalloc(&dlow, 2 * grid * sizeof(float4)));
    CHECK(cudaMemcpy(da, a.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    crossKernel<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(da, db, dc, dt, n);
    CHECK(cudaGetLastError());
    extremesKernel<<<grid, BLOCK>>>(dc, n, dlow, dlow + grid);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, n * sizeof(float4), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(tags.data(), dt, n * sizeof(uchar4), cudaMemcpyDeviceToHost));
    std::vector<float4> ends(2 * grid);
    CHECK(cudaMemcpy(ends.data(), dlow, ends.size() * sizeof(float4), cudaMemcpyDeviceToHost));

    float4 low = ends[0], high = ends[grid];
    for (int g = 1; g < grid; ++g) {
        const float4 p = ends[g], q = ends[grid + g];
        low = make_float4(fminf(low.x, p.x), fminf(low.y, p.y), fminf(low.z, p.z), fminf(low.w, p.w));
        high = make_float4(fmaxf(high.x, q.x), fmaxf(high.y, q.y), fmaxf(high.z, q.z), fmaxf(high.w, q.w));
    }
    long long sx = 0, sw = 0;
    int signs[8] = {0}, odd = 0, wrong = 0;
    for (int i = 0; i < n; ++i) {
        sx += (long long)c[i].x * (i % 5 + 1) - (long long)c[i].y + (long long)c[i].z * 3;
        sw += (long long)c[i].w;
        signs[tags[i].w & 7]++;
        odd += tags[i].x + tags[i].y + tags[i].z;
        const float4 r = cross(a[i], b[i]);
        wrong += r.x != c[i].x || r.y != c[i].y || r.z != c[i].z || dot3(a[i], b[i]) != c[i].w;
    }
    printf("pairs %d\n", n);
    printf("first (%.0f, %.0f, %.0f | %.0f)\n", c[0].x, c[0].y, c[0].z, c[0].w);
    printf("low (%.0f, %.0f, %.0f | %.0f)\n", low.x, low.y, low.z, low.w);
    printf("high (%.0f, %.0f, %.0f | %.0f)\n", high.x, high.y, high.z, high.w);
    printf("sums %lld %lld odd %d\n", sx, sw, odd);
    for (int k = 0; k < 8; ++k) printf("octant %d: %d\n", k, signs[k]);
    printf("%s\n", wrong ? "FAILED" : "ok");
    cudaFree(da); cudaFree(db); cudaFree(dc); cudaFree(dt); cudaFree(dlow);
    return wrong != 0;
}
