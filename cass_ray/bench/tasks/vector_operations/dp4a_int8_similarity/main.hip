// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

__device__ __forceinline__ int dotSigned(uint32_t a, uint32_t b, int c)
{
    for (int k = 0; k < 32; k += 8)
        c += (int)(int8_t)(a >> k) * (int)(int8_t)(b >> k);
    return c;
}
__device__ __forceinline__ int dotMixed(uint32_t a, uint32_t b, int c)
{
    for (int k = 0; k < 32; k += 8)
        c += (int)(uint8_t)(a >> k) * (int)(int8_t)(b >> k);
    return c;
}
__device__ __forceinline__ uint32_t dotUnsigned(uint32_t a, uint32_t b, uint32_t c)
{
    for (int k = 0; k < 32; k += 8)
        c += (uint32_t)(uint8_t)(a >> k) * (uint32_t)(uint8_t)(b >> k);
    return c;
}

// One group of 32 lanes per row: signed, mixed and unsigned dot products with the query.
__global__ void similarity(const uint32_t* rows, const uint32_t* query, int words, int count, int* out)
{
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int s = 0, m = 0;
    uint32_t u = 0;
    if (row < count)
        for (int i = lane; i < words; i += 32) {
            const uint32_t a = rows[(size_t)row * words + i], q = query[i];
            s = dotSigned(a, q, s);
            m = dotMixed(a, q, m);
            u = dotUnsigned(a, q, u);
        }
#pragma unroll
    for (int d = 16; d; d >>= 1) {
        s += __shfl_xor(s, d, 32);
        m += __shfl_xor(m, d, 32);
        u += __shfl_xor(u, d, 32);
    }
    if (row < count && lane < 3)
        out[row * 3 + lane] = lane == 0 ? s : lane == 1 ? m : (int)u;
}

static int byteOf(uint32_t w, int k, bool sign)
{
    const int v = (int)(w >> (8 * k) & 255u);
    return sign && v > 127 ? v - 256 : v;
}

int main(int argc, char** argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 300;
    const int words = argc > 2 ? atoi(argv[2]) : 48;
    uint32_t s = argc > 3 ? (uint32_t)atoi(argv[3]) : 2024u;
    if (count < 1 || words < 1) return 1;
    std::vector<uint32_t> rows((size_t)count * words), query(words);
    for (auto& w : rows) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; w = s; }
    for (auto& w : query) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; w = s; }
    uint32_t *dr, *dq;
    int* dout;
    CHECK(hipMalloc(&dr, rows.size() * 4));
    CHECK(hipMalloc(&dq, query.size() * 4));
    CHECK(hipMalloc(&dout, count * 3 * sizeof(int)));
    CHECK(hipMemcpy(dr, rows.data(), rows.size() * 4, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(dq, query.data(), query.size() * 4, hipMemcpyHostToDevice));
    const int warps = 4;
    similarity<<<(count + warps - 1) / warps, warps * 32>>>(dr, dq, words, count, dout);
    CHECK(hipGetLastError());
    std::vector<int> out(count * 3);
    CHECK(hipMemcpy(out.data(), dout, out.size() * sizeof(int), hipMemcpyDeviceToHost));
    int best = 0, wrong = 0;
    long long total[3] = {0, 0, 0};
    for (int r = 0; r < count; ++r) {
        int e[3] = {0, 0, 0};
        for (int i = 0; i < words; ++i)
            for (int k = 0; k < 4; ++k) {
                const uint32_t a = rows[(size_t)r * words + i], q = query[i];
                e[0] += byteOf(a, k, true) * byteOf(q, k, true);
                e[1] += byteOf(a, k, false) * byteOf(q, k, true);
                e[2] += byteOf(a, k, false) * byteOf(q, k, false);
            }
        for (int k = 0; k < 3; ++k) {
            wrong += e[k] != out[r * 3 + k];
            total[k] += (long long)out[r * 3 + k] * (r % 9 + 1);
        }
        if (out[r * 3] > out[best * 3]) best = r;
    }
    printf("rows %d words %d\n", count, words);
    printf("row 0: %d %d %d\n", out[0], out[1], out[2]);
    printf("best row %d: %d\n", best, out[best * 3]);
    printf("totals %lld %lld %lld\n", total[0], total[1], total[2]);
    printf("wrong %d\n", wrong);
    hipFree(dr); hipFree(dq); hipFree(dout);
    return wrong ? 1 : 0;
}
