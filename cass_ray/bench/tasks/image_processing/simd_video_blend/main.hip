// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void gpuAssert(hipError_t code, const char* file, int line)
{
    if (code == hipSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", hipGetErrorName(code), file, line);
    exit(1);
}
#define HIP_CHECK(ans) gpuAssert((ans), __FILE__, __LINE__)

#define OPERATIONS 14

// HIP has no SIMD video intrinsics: one loop over the fields of a word does each of them.
template <int kBits, bool kSigned, class Function>
__device__ __forceinline__ uint32_t perField(uint32_t x, uint32_t y, Function function)
{
    const uint32_t mask = (1u << kBits) - 1u;
    uint32_t r = 0;
#pragma unroll
    for (int at = 0; at < 32; at += kBits) {
        int p = (int)(x >> at & mask), q = (int)(y >> at & mask);
        if (kSigned) {
            p = (int)((uint32_t)p << (32 - kBits)) >> (32 - kBits);
            q = (int)((uint32_t)q << (32 - kBits)) >> (32 - kBits);
        }
        r |= ((uint32_t)function(p, q) & mask) << at;
    }
    return r;
}
__device__ __forceinline__ uint32_t sumOfDifferences(uint32_t x, uint32_t y, uint32_t start)
{
    for (int at = 0; at < 32; at += 8) start += (uint32_t)abs((int)(x >> at & 255u) - (int)(y >> at & 255u));
    return start;
}
__global__ void blend(const uint32_t* a, const uint32_t* b, int n, uint32_t* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint32_t x = a[i], y = b[i];
    uint32_t r[OPERATIONS];
    const uint32_t z = y ^ (x & 0xff00ff00u) ^ (y & 0xff00ff00u);
    r[0] = perField<8, false>(x, y, [](int p, int q) { return (p + q + 1) >> 1; });
    r[1] = perField<8, false>(x, y, [](int p, int q) { return abs(p - q); });
    r[2] = perField<8, false>(x, y, [](int p, int q) { return min(p + q, 255); });
    r[3] = perField<8, false>(x, y, [](int p, int q) { return max(p - q, 0); });
    r[4] = perField<8, false>(x, y, [](int p, int q) { return min(p, q); });
    r[5] = perField<8, true>(x, y, [](int p, int q) { return max(p, q); });
    r[6] = perField<8, false>(x, y, [](int p, int q) { return p + q; });
    r[7] = perField<16, false>(x, y, [](int p, int q) { return p - q; });
    r[8] = perField<8, false>(x, y, [](int p, int q) { return p > q ? 255 : 0; });
    r[9] = perField<8, false>(x, z, [](int p, int q) { return p == q ? 255 : 0; });
    r[10] = sumOfDifferences(x, y, 0u);
    r[11] = perField<16, true>(x, 0u, [](int p, int) { return min(abs(p), 32767); });
    r[12] = perField<16, true>(x, y, [](int p, int q) { return min(max(p + q, -32768), 32767); });
    r[13] = sumOfDifferences(x, y, (uint32_t)i);
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
    HIP_CHECK(hipMalloc(&da, n * 4));
    HIP_CHECK(hipMalloc(&db, n * 4));
    HIP_CHECK(hipMalloc(&dout, out.size() * 4));
    HIP_CHECK(hipMemcpy(da, a.data(), n * 4, hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(db, b.data(), n * 4, hipMemcpyHostToDevice));
    blend<<<(n + 127) / 128, 128>>>(da, db, n, dout);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipMemcpy(out.data(), dout, out.size() * 4, hipMemcpyDeviceToHost));
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
    HIP_CHECK(hipFree(da));
    HIP_CHECK(hipFree(db));
    HIP_CHECK(hipFree(dout));
    return total ? 1 : 0;
}
