// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define HIP_CHECK(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

#define SIGMA_ROWS \
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }, { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 }, \
    { 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 }, { 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 }, \
    { 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 }, { 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 }, \
    { 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 }, { 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 }, \
    { 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 }, { 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 }
#define IV_WORDS { 0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u }

__constant__ uint32_t initial[8] = IV_WORDS;

__host__ __device__ inline uint32_t rotateRight(uint32_t x, int n) { return x >> n | x << (32 - n); }

#define MIX(a, b, c, d, x, y)                \
    a += b + (x); d = rotateRight(d ^ a, 16); \
    c += d;       b = rotateRight(b ^ c, 12); \
    a += b + (y); d = rotateRight(d ^ a, 8);  \
    c += d;       b = rotateRight(b ^ c, 7);

__host__ __device__ inline void compress(uint32_t* h, const uint32_t* m, const uint32_t* iv, uint64_t counter, bool last)
{
    constexpr unsigned char sigma[10][16] = { SIGMA_ROWS };
    uint32_t v[16];
    for (int i = 0; i < 8; ++i) { v[i] = h[i]; v[i + 8] = iv[i]; }
    v[12] ^= (uint32_t)counter;
    v[13] ^= (uint32_t)(counter >> 32);
    if (last) v[14] = ~v[14];
#pragma unroll
    for (int r = 0; r < 10; ++r) {
        MIX(v[0], v[4], v[8], v[12], m[sigma[r][0]], m[sigma[r][1]])
        MIX(v[1], v[5], v[9], v[13], m[sigma[r][2]], m[sigma[r][3]])
        MIX(v[2], v[6], v[10], v[14], m[sigma[r][4]], m[sigma[r][5]])
        MIX(v[3], v[7], v[11], v[15], m[sigma[r][6]], m[sigma[r][7]])
        MIX(v[0], v[5], v[10], v[15], m[sigma[r][8]], m[sigma[r][9]])
        MIX(v[1], v[6], v[11], v[12], m[sigma[r][10]], m[sigma[r][11]])
        MIX(v[2], v[7], v[8], v[13], m[sigma[r][12]], m[sigma[r][13]])
        MIX(v[3], v[4], v[9], v[14], m[sigma[r][14]], m[sigma[r][15]])
    }
    for (int i = 0; i < 8; ++i) h[i] ^= v[i] ^ v[i + 8];
}

__host__ __device__ inline void blake2s(const unsigned char* message, uint32_t length, const uint32_t* iv, uint32_t* h)
{
    for (int i = 0; i < 8; ++i) h[i] = iv[i];
    h[0] ^= 0x01010020u;  // 32 bytes of digest, no key
    uint32_t done = 0;
    do {
        uint32_t m[16];
        const uint32_t take = length - done < 64 ? length - done : 64;
        for (int w = 0; w < 16; ++w) {
            m[w] = 0;
            for (int b = 0; b < 4; ++b)
                if (4u * w + b < take) m[w] |= (uint32_t)message[done + 4 * w + b] << (8 * b);
        }
        done += take;
        compress(h, m, iv, done, done == length);
    } while (done < length);
}

__global__ void hashAll(const unsigned char* text, const uint32_t* offsets, int count, uint32_t* digests)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    uint32_t h[8];
    blake2s(text + offsets[i], offsets[i + 1] - offsets[i], initial, h);
    for (int w = 0; w < 8; ++w) digests[w * count + i] = h[w];
}

int main(int argc, char** argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 500;
    const int longest = argc > 2 ? atoi(argv[2]) : 150;
    uint32_t s = argc > 3 ? (uint32_t)atoi(argv[3]) : 11u;
    if (count < 1 || longest < 3) return 1;
    std::vector<uint32_t> offsets(count + 1, 0);
    for (int i = 0; i < count; ++i) {
        s = s * 1664525u + 1013904223u;
        offsets[i + 1] = offsets[i] + (i == 0 ? 3u : (s >> 8) % (longest + 1));
    }
    std::vector<unsigned char> text(offsets[count] + 1);
    for (auto& c : text) { s = s * 1664525u + 1013904223u; c = (unsigned char)(s >> 24); }
    memcpy(text.data(), "abc", 3);  // the test vector of RFC 7693 comes first
    unsigned char* dt; uint32_t *dof, *dd;
    HIP_CHECK(hipMalloc(&dt, text.size()));
    HIP_CHECK(hipMalloc(&dof, offsets.size() * 4));
    HIP_CHECK(hipMalloc(&dd, count * 32));
    HIP_CHECK(hipMemcpy(dt, text.data(), text.size(), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(dof, offsets.data(), offsets.size() * 4, hipMemcpyHostToDevice));
    hashAll<<<(count + 63) / 64, 64>>>(dt, dof, count, dd);
    HIP_CHECK(hipGetLastError());
    std::vector<uint32_t> digests(count * 8);
    HIP_CHECK(hipMemcpy(digests.data(), dd, count * 32, hipMemcpyDeviceToHost));
    const uint32_t iv[8] = IV_WORDS;
    int wrong = 0;
    uint32_t folded[8] = {0};
    for (int i = 0; i < count; ++i) {
        uint32_t h[8];
        blake2s(text.data() + offsets[i], offsets[i + 1] - offsets[i], iv, h);
        for (int w = 0; w < 8; ++w) {
            wrong += h[w] != digests[w * count + i];
            folded[w] = rotateRight(folded[w], 5) + digests[w * count + i];
        }
    }
    printf("messages %d bytes %u\n", count, offsets[count]);
    printf("abc:");
    for (int w = 0; w < 8; ++w) printf(" %08x", digests[w * count]);
    printf("\nfold:");
    for (int w = 0; w < 8; ++w) printf(" %08x", folded[w]);
    if (digests[0] != 0x8c5e8c50u) ++wrong;
    printf("\n%s\n", wrong ? "FAILED" : "ok");
    hipFree(dt); hipFree(dof); hipFree(dd);
    return wrong ? 1 : 0;
}
