// SPDX-License-Identifier: MIT
// SHA-256 of many short messages, one thread each, with the round constants in constant memory.
// The digest of "abc" is checked against FIPS 180-4 and all digests against the host.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CUDA_CHECK(call)                                                            \
    do {                                                                            \
        cudaError_t e = (call);                                                     \
        if (e != cudaSuccess) {                                                     \
            fprintf(stderr, "sha256: %s (%d)\n", cudaGetErrorString(e), __LINE__);  \
            exit(2);                                                                \
        }                                                                           \
    } while (0)

#define ROUND_CONSTANTS                                                                                         \
    {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,             \
     0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,             \
     0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,             \
     0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,             \
     0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,             \
     0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,             \
     0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,             \
     0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2}

__constant__ uint32_t roundConstants[64] = ROUND_CONSTANTS;
static const uint32_t hostConstants[64] = ROUND_CONSTANTS;

__host__ __device__ inline uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

__host__ __device__ inline void compress(uint32_t state[8], uint32_t w[16], const uint32_t* k)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; ++i) {
        if (i >= 16) {
            const uint32_t w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
            w[i & 15] += (rotr(w15, 7) ^ rotr(w15, 18) ^ w15 >> 3) + w[(i + 9) & 15] +
                         (rotr(w2, 17) ^ rotr(w2, 19) ^ w2 >> 10);
        }
        const uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (g ^ (e & (f ^ g))) + k[i] + w[i & 15];
        const uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) | (c & (a | b)));
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

__host__ __device__ inline void sha256(const unsigned char* message, int length, const uint32_t* k, uint32_t digest[8])
{
    const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 8; ++i)
        digest[i] = initial[i];
    const int blocks = (length + 9 + 63) / 64;
    for (int block = 0; block < blocks; ++block) {
        uint32_t w[16];
        for (int i = 0; i < 16; ++i) {
            w[i] = 0;
            for (int j = 0; j < 4; ++j) {
                const int at = block * 64 + i * 4 + j;
                const uint32_t byte = at < length ? message[at] : at == length ? 0x80u : 0u;
                w[i] = w[i] << 8 | byte;
            }
        }
        if (block == blocks - 1)
            w[15] = (uint32_t)length * 8;
        compress(digest, w, k);
    }
}

__global__ void hashMessages(const unsigned char* text, const int* offset, int n, uint32_t* digests)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sha256(text + offset[i], offset[i + 1] - offset[i], roundConstants, digests + 8 * i);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 512;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1u;
    if (n < 1)
        return 2;
    std::vector<unsigned char> text = {'a', 'b', 'c'};
    std::vector<int> offset = {0, 3};
    for (int i = 1; i < n; ++i) {
        seed = seed * 1664525u + 1013904223u;
        for (int length = (int)(seed >> 16) % 120; length > 0; --length) {
            seed = seed * 1664525u + 1013904223u;
            text.push_back((unsigned char)(seed >> 24));
        }
        offset.push_back((int)text.size());
    }
    unsigned char* dText;
    int* dOffset;
    uint32_t* dDigests;
    CUDA_CHECK(cudaMalloc(&dText, text.size()));
    CUDA_CHECK(cudaMalloc(&dOffset, offset.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&dDigests, n * 32));
    CUDA_CHECK(cudaMemcpy(dText, text.data(), text.size(), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dOffset, offset.data(), offset.size() * sizeof(int), cudaMemcpyHostToDevice));
    hashMessages<<<(n + 63) / 64, 64>>>(dText, dOffset, n, dDigests);
    CUDA_CHECK(cudaGetLastError());
    std::vector<uint32_t> digests(8 * n);
    CUDA_CHECK(cudaMemcpy(digests.data(), dDigests, n * 32, cudaMemcpyDeviceToHost));

    const uint32_t abc[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223, 0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    bool ok = memcmp(abc, digests.data(), sizeof abc) == 0;
    uint32_t folded[8] = {};
    for (int i = 0; i < n; ++i) {
        uint32_t expected[8];
        sha256(text.data() + offset[i], offset[i + 1] - offset[i], hostConstants, expected);
        ok = ok && memcmp(expected, &digests[8 * i], 32) == 0;
        for (int j = 0; j < 8; ++j)
            folded[j] ^= digests[8 * i + j];
    }
    printf("sha256(abc) = ");
    for (int j = 0; j < 8; ++j)
        printf("%08x", digests[j]);
    printf("\nxor of %d digests = %08x%08x..%08x\n", n, folded[0], folded[1], folded[7]);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CUDA_CHECK(cudaFree(dText));
    CUDA_CHECK(cudaFree(dOffset));
    CUDA_CHECK(cudaFree(dDigests));
    return ok ? 0 : 1;
}
