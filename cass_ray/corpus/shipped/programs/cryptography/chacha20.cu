// SPDX-License-Identifier: MIT
// ChaCha20 keystream and encryption, one 64-byte block a thread; rotations use the funnel
// shift. Block 1 of the RFC 8439 example key is compared with the published state.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(op)                                                             \
    do {                                                                           \
        const cudaError_t e = (op);                                                \
        if (e != cudaSuccess) {                                                    \
            fprintf(stderr, "chacha20 line %d: %s\n", __LINE__, cudaGetErrorName(e)); \
            exit(2);                                                               \
        }                                                                          \
    } while (0)

__host__ __device__ inline uint32_t rotl(uint32_t x, int n)
{
#ifdef __CUDA_ARCH__
    return __funnelshift_l(x, x, n);
#else
    return x << n | x >> (32 - n);
#endif
}

#define QUARTER(a, b, c, d)                    \
    a += b, d = rotl(d ^ a, 16);               \
    c += d, b = rotl(b ^ c, 12);               \
    a += b, d = rotl(d ^ a, 8);                \
    c += d, b = rotl(b ^ c, 7)

struct Cipher {
    uint32_t key[8], nonce[3];
};

__host__ __device__ inline void keystream(const Cipher& cipher, uint32_t counter, uint32_t out[16])
{
    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (int i = 0; i < 8; ++i)
        in[4 + i] = cipher.key[i];
    in[12] = counter;
    for (int i = 0; i < 3; ++i)
        in[13 + i] = cipher.nonce[i];
    uint32_t x[16];
    for (int i = 0; i < 16; ++i)
        x[i] = in[i];
    for (int round = 0; round < 10; ++round) {
        QUARTER(x[0], x[4], x[8], x[12]);
        QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]);
        QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]);
        QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]);
        QUARTER(x[3], x[4], x[9], x[14]);
    }
    for (int i = 0; i < 16; ++i)
        out[i] = x[i] + in[i];
}

__global__ void encrypt(Cipher cipher, uint32_t firstCounter, uint32_t* data, int blocks)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks)
        return;
    uint32_t stream[16];
    keystream(cipher, firstCounter + i, stream);
#pragma unroll
    for (int w = 0; w < 16; ++w)
        data[16 * i + w] ^= stream[w];
}

int main(int argc, char** argv)
{
    const int blocks = argc > 1 ? atoi(argv[1]) : 1500;
    uint32_t seed = argc > 2 ? (uint32_t)strtoul(argv[2], nullptr, 10) : 2u;
    if (blocks < 1)
        return 2;
    Cipher cipher;
    for (uint32_t i = 0; i < 8; ++i)
        cipher.key[i] = 0x03020100u + 0x04040404u * i;
    cipher.nonce[0] = 0x09000000;
    cipher.nonce[1] = 0x4a000000;
    cipher.nonce[2] = 0x00000000;

    // The first block is all zero, so its ciphertext is the bare keystream.
    std::vector<uint32_t> plain(16 * blocks, 0u), coded(16 * blocks);
    for (size_t i = 16; i < plain.size(); ++i)
        plain[i] = seed = seed * 1103515245u + 12345u;
    uint32_t* data;
    CUDA_CHECK(cudaMalloc(&data, plain.size() * 4));
    CUDA_CHECK(cudaMemcpy(data, plain.data(), plain.size() * 4, cudaMemcpyHostToDevice));
    encrypt<<<(blocks + 95) / 96, 96>>>(cipher, 1u, data, blocks);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(coded.data(), data, coded.size() * 4, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(data));

    const uint32_t rfc[4] = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3};
    bool ok = coded[0] == rfc[0] && coded[1] == rfc[1] && coded[2] == rfc[2] && coded[3] == rfc[3];
    uint32_t hash = 0;
    for (int b = 0; b < blocks; ++b) {
        uint32_t stream[16];
        keystream(cipher, 1u + b, stream);
        for (int w = 0; w < 16; ++w) {
            ok = ok && coded[16 * b + w] == (plain[16 * b + w] ^ stream[w]);
            hash = (hash ^ coded[16 * b + w]) * 16777619u;
        }
    }
    printf("keystream starts %08x %08x %08x %08x\n", coded[0], coded[1], coded[2], coded[3]);
    printf("%d bytes, checksum %08x\n", 64 * blocks, hash);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
