// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void gpuAssert(cudaError_t code, const char* file, int line)
{
    if (code == cudaSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", cudaGetErrorName(code), file, line);
    exit(1);
}
#define CUDA_CHECK(ans) gpuAssert((ans), __FILE__, __LINE__)

#define OPERATIONS 14
__global__ void blend(const uint32_t* a, const uint32_t* b, int n, uint32_t* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint32_t x = a[i], y = b[i];
    uint32_t r[OPERATIONS];
    r[0] = __vavgu4(x, y);
    r[1] = __vabsdiffu4(x, y);
    r[2] = __vaddus4(x, y);
    r[3] = __vsubus4(x, y);
    r[4] = __vminu4(x, y);
    r[5] = __vmaxs4(x, y);
    r[6] = __vadd4(x, y);
    r[7] = __vsub2(x, y);
    r[8] = __vcmpgtu4(x, y);
    r[9] = __vcmpeq4(x, y ^ (x & 0xff00ff00u) ^ (y & 0xff00ff00u));
    r[10] = __vsadu4(x, y);
    r[11] = __vabsss2(x);
    r[12] = __vaddss2(x, y);
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r[13]) : "r"(x), "r"(y), "r"(i));
    for (int k = 0; k < OPERATIONS; ++k) out[k * n + i] = r[k];
}

static int clampTo(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

static uint32_t model(int k, uint32_t x, uint32_t y, int i)
{
    uint32_t r = 0;
    if (k == 7 || k == 11 || k == 12) {
        for (int h = 0; h < 32; h += 16) {
            const int p = (int16_t)(x >> h), q = (int16_t)(y >> h);
            const int v = k == 7 ? p - q : k == 11 ? clampTo(p < 0 ? -p : p, -32768, 32767) : clampTo(p + q, -32768, 32767);
            r |= (uint32_t)(uint16_t)v << h;
        }
        return r;
    }
    if (k == 9) y = y ^ (x & 0xff00ff00u) ^ (y & 0xff00ff00u);
    uint32_t sum = k == 13 ? (uint32_t)i : 0u;
    for (int h = 0; h < 32; h += 8) {
        const int p = (uint8_t)(x >> h), q = (uint8_t)(y >> h), sp = (int8_t)p, sq = (int8_t)q;
        int v = 0;
        switch (k) {
        case 0: v = (p + q + 1) / 2; break;
        case 1: v = abs(p - q); break;
        case 2: v = clampTo(p + q, 0, 255); break;
        case 3: v = clampTo(p - q, 0, 255); break;
        case 4: v = p < q ? p : q; break;
        case 5: v = sp > sq ? sp : sq; break;
        case 6: v = p + q; break;
        case 8: v = p > q ? 255 : 0; break;
        case 9: v = p == q ? 255 : 0; break;
        default: sum += (uint32_t)abs(p - q); break;
        }
        r |= (uint32_t)(uint8_t)v << h;
    }
    return k == 10 || k == 13 ? sum : r;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1700;
    uint32_t s = argc > 2 ? (uint32_t)atoi(argv[2]) : 2u;
    if (n < 1) return 1;
    std::vector<uint32_t> a(n), b(n), out((size_t)n * OPERATIONS);
    for (int i = 0; i < n; ++i) {
        s = s * 747796405u + 2891336453u;
        a[i] = (s >> 11) ^ s;
        s = s * 747796405u + 2891336453u;
        b[i] = i % 4 ? (s >> 13) ^ s : a[i] ^ (s & 0x01000180u);
        if (i % 9 == 0) a[i] = 0x8000ff80u;
    }
    uint32_t *da, *db, *dout;
    CUDA_CHECK(cudaMalloc(&da, n * 4));
    CUDA_CHECK(cudaMalloc(&db, n * 4));
    CUDA_CHECK(cudaMalloc(&dout, out.size() * 4));
    CUDA_CHECK(cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(db, b.data(), n * 4, cudaMemcpyHostToDevice));
    blend<<<(n + 127) / 128, 128>>>(da, db, n, dout);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), dout, out.size() * 4, cudaMemcpyDeviceToHost));
    int total = 0;
    for (int k = 0; k < OPERATIONS; ++k) {
        uint32_t fold = 0;
        int wrong = 0;
        for (int i = 0; i < n; ++i) {
            fold = fold * 31u + out[(size_t)k * n + i];
            wrong += out[(size_t)k * n + i] != model(k, a[i], b[i], i);
        }
        printf("operation %2d: first %08x fold %08x wrong %d\n", k, out[(size_t)k * n], fold, wrong);
        total += wrong;
    }
    printf("%s\n", total ? "FAILED" : "ok");
    CUDA_CHECK(cudaFree(da));
    CUDA_CHECK(cudaFree(db));
    CUDA_CHECK(cudaFree(dout));
    return total ? 1 : 0;
}
