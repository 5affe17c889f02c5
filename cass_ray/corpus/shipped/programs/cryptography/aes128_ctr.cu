// SPDX-License-Identifier: MIT
// AES-128 in counter mode with one T-table and the key schedule in constant memory. The tables
// are derived on the host from GF(2^8) arithmetic; the FIPS-197 vector is checked first.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define AES_CUDA(x)                                                       \
    do {                                                                  \
        cudaError_t err = (x);                                            \
        if (err != cudaSuccess) {                                         \
            fprintf(stderr, "%s -> %s\n", #x, cudaGetErrorString(err));   \
            exit(2);                                                      \
        }                                                                 \
    } while (0)

struct Tables {
    uint32_t round[256];  // column (2s, s, s, 3s) of each S-box value, most significant byte first
    uint8_t sbox[256];
};

__constant__ Tables cTables;
__constant__ uint32_t cKeys[44];

__host__ __device__ inline uint32_t ror8(uint32_t x, int bytes)
{
    return bytes ? x >> (8 * bytes) | x << (32 - 8 * bytes) : x;
}

__host__ __device__ inline void encryptBlock(const Tables& t, const uint32_t* keys, uint32_t s[4])
{
    for (int c = 0; c < 4; ++c)
        s[c] ^= keys[c];
    uint32_t n[4];
    for (int round = 1; round < 10; ++round) {
        for (int c = 0; c < 4; ++c) {
            n[c] = keys[4 * round + c];
            for (int row = 0; row < 4; ++row)
                n[c] ^= ror8(t.round[s[(c + row) & 3] >> (24 - 8 * row) & 255u], row);
        }
        for (int c = 0; c < 4; ++c)
            s[c] = n[c];
    }
    for (int c = 0; c < 4; ++c) {
        n[c] = 0;
        for (int row = 0; row < 4; ++row)
            n[c] = n[c] << 8 | t.sbox[s[(c + row) & 3] >> (24 - 8 * row) & 255u];
        n[c] ^= keys[40 + c];
    }
    for (int c = 0; c < 4; ++c)
        s[c] = n[c];
}

__global__ void counterMode(uint4* data, int blocks, uint32_t nonce)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks)
        return;
    uint32_t s[4] = {nonce, nonce ^ 0xa5a5a5a5u, 0u, (uint32_t)i};
    encryptBlock(cTables, cKeys, s);
    uint4 v = data[i];
    v.x ^= s[0];
    v.y ^= s[1];
    v.z ^= s[2];
    v.w ^= s[3];
    data[i] = v;
}

static uint8_t gfMultiply(uint8_t a, uint8_t b)
{
    uint8_t product = 0;
    for (; b; b >>= 1) {
        if (b & 1)
            product ^= a;
        a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1b : 0));
    }
    return product;
}

static Tables buildTables()
{
    Tables t;
    for (int v = 0; v < 256; ++v) {
        uint8_t inverse = 0;
        for (int c = 1; c < 256 && v; ++c)
            if (gfMultiply((uint8_t)v, (uint8_t)c) == 1)
                inverse = (uint8_t)c;
        uint8_t s = 0x63;
        for (int r = 0; r < 5; ++r)
            s ^= (uint8_t)(inverse << r | inverse >> (8 - r));
        t.sbox[v] = s;
        const uint32_t two = gfMultiply(s, 2), three = gfMultiply(s, 3);
        t.round[v] = two << 24 | (uint32_t)s << 16 | (uint32_t)s << 8 | three;
    }
    return t;
}

static void expandKey(const Tables& t, const uint32_t key[4], uint32_t schedule[44])
{
    uint32_t rcon = 1;
    for (int i = 0; i < 44; ++i) {
        if (i < 4) {
            schedule[i] = key[i];
            continue;
        }
        uint32_t w = schedule[i - 1];
        if (i % 4 == 0) {
            w = w << 8 | w >> 24;
            w = (uint32_t)t.sbox[w >> 24] << 24 | (uint32_t)t.sbox[w >> 16 & 255] << 16 |
                (uint32_t)t.sbox[w >> 8 & 255] << 8 | t.sbox[w & 255];
            w ^= rcon << 24;
            rcon = gfMultiply((uint8_t)rcon, 2);
        }
        schedule[i] = schedule[i - 4] ^ w;
    }
}

int main(int argc, char** argv)
{
    const int blocks = argc > 1 ? atoi(argv[1]) : 2048;
    uint32_t seed = argc > 2 ? (uint32_t)atoi(argv[2]) : 77u;
    if (blocks < 1)
        return 2;
    const Tables tables = buildTables();
    uint32_t schedule[44];
    const uint32_t key[4] = {0x00010203, 0x04050607, 0x08090a0b, 0x0c0d0e0f};
    expandKey(tables, key, schedule);
    uint32_t known[4] = {0x00112233, 0x44556677, 0x8899aabb, 0xccddeeff};
    encryptBlock(tables, schedule, known);
    const uint32_t fips[4] = {0x69c4e0d8, 0x6a7b0430, 0xd8cdb780, 0x70b4c55a};
    bool ok = memcmp(known, fips, sizeof fips) == 0;

    std::vector<uint4> plain(blocks), cipher(blocks);
    for (uint4& v : plain) {
        uint32_t* words[4] = {&v.x, &v.y, &v.z, &v.w};
        for (uint32_t* w : words)
            *w = seed = seed * 1664525u + 1013904223u;
    }
    uint4* data;
    AES_CUDA(cudaMalloc(&data, blocks * sizeof(uint4)));
    AES_CUDA(cudaMemcpy(data, plain.data(), blocks * sizeof(uint4), cudaMemcpyHostToDevice));
    AES_CUDA(cudaMemcpyToSymbol(cTables, &tables, sizeof tables));
    AES_CUDA(cudaMemcpyToSymbol(cKeys, schedule, sizeof schedule));
    counterMode<<<(blocks + 127) / 128, 128>>>(data, blocks, 0xdecafbadu);
    AES_CUDA(cudaGetLastError());
    AES_CUDA(cudaMemcpy(cipher.data(), data, blocks * sizeof(uint4), cudaMemcpyDeviceToHost));
    AES_CUDA(cudaFree(data));

    uint32_t sum = 0;
    for (int i = 0; i < blocks; ++i) {
        uint32_t s[4] = {0xdecafbadu, 0xdecafbadu ^ 0xa5a5a5a5u, 0u, (uint32_t)i};
        encryptBlock(tables, schedule, s);
        ok = ok && cipher[i].x == (plain[i].x ^ s[0]) && cipher[i].y == (plain[i].y ^ s[1]) &&
             cipher[i].z == (plain[i].z ^ s[2]) && cipher[i].w == (plain[i].w ^ s[3]);
        sum = sum * 33u + (cipher[i].x ^ cipher[i].y ^ cipher[i].z ^ cipher[i].w);
    }
    printf("FIPS-197 block %08x%08x%08x%08x\n", known[0], known[1], known[2], known[3]);
    printf("%d blocks, first %08x%08x%08x%08x, checksum %08x\n", blocks, cipher[0].x, cipher[0].y, cipher[0].z,
           cipher[0].w, sum);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
