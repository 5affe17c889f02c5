// SPDX-License-Identifier: MIT
// RC4 keystreams for many keys at once. Every thread permutes its own state table, kept in
// dynamic shared memory with the tables interleaved by thread; historical cipher, for study only.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define RC4_CUDA(call)                                                        \
    do {                                                                      \
        cudaError_t st = (call);                                              \
        if (st != cudaSuccess) {                                              \
            fprintf(stderr, "rc4_batch: %s\n", cudaGetErrorString(st));       \
            exit(2);                                                          \
        }                                                                     \
    } while (0)

typedef unsigned char byte;

enum { kBlock = 32, kKeyBytes = 5 };

__global__ void keystreams(const byte* keys, int n, int length, byte* out)
{
    extern __shared__ byte state[];  // state[value * kBlock + thread]
    const int t = threadIdx.x;
    const int id = blockIdx.x * kBlock + t;
    if (id >= n)
        return;
    for (int v = 0; v < 256; ++v)
        state[v * kBlock + t] = (byte)v;
    unsigned j = 0;
    for (int i = 0; i < 256; ++i) {
        const byte si = state[i * kBlock + t];
        j = (j + si + keys[id * kKeyBytes + i % kKeyBytes]) & 255u;
        state[i * kBlock + t] = state[j * kBlock + t];
        state[j * kBlock + t] = si;
    }
    unsigned i = 0;
    j = 0;
    for (int k = 0; k < length; ++k) {
        i = (i + 1) & 255u;
        const byte si = state[i * kBlock + t];
        j = (j + si) & 255u;
        const byte sj = state[j * kBlock + t];
        state[i * kBlock + t] = sj;
        state[j * kBlock + t] = si;
        out[k * n + id] = state[((si + sj) & 255u) * kBlock + t];
    }
}

static std::vector<byte> referenceStream(const byte* key, int length)
{
    byte s[256];
    for (int v = 0; v < 256; ++v)
        s[v] = (byte)v;
    for (int i = 0, j = 0; i < 256; ++i) {
        j = (j + s[i] + key[i % kKeyBytes]) & 255;
        const byte x = s[i];
        s[i] = s[j];
        s[j] = x;
    }
    std::vector<byte> out(length);
    for (int k = 0, i = 0, j = 0; k < length; ++k) {
        i = (i + 1) & 255;
        j = (j + s[i]) & 255;
        const byte x = s[i];
        s[i] = s[j];
        s[j] = x;
        out[k] = s[(s[i] + s[j]) & 255];
    }
    return out;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 300;
    const int length = argc > 2 ? atoi(argv[2]) : 64;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 40u;
    if (n < 1 || length < 16)
        return 2;
    std::vector<byte> keys(n * kKeyBytes);
    for (byte& k : keys) {
        seed = seed * 1664525u + 1013904223u;
        k = (byte)(seed >> 24);
    }
    for (int b = 0; b < kKeyBytes; ++b)
        keys[b] = (byte)(b + 1);  // RFC 6229 key 01 02 03 04 05

    byte *dKeys, *dOut;
    RC4_CUDA(cudaMalloc(&dKeys, keys.size()));
    RC4_CUDA(cudaMalloc(&dOut, (size_t)n * length));
    RC4_CUDA(cudaMemcpy(dKeys, keys.data(), keys.size(), cudaMemcpyHostToDevice));
    keystreams<<<(n + kBlock - 1) / kBlock, kBlock, 256 * kBlock>>>(dKeys, n, length, dOut);
    RC4_CUDA(cudaGetLastError());
    std::vector<byte> out((size_t)n * length);
    RC4_CUDA(cudaMemcpy(out.data(), dOut, out.size(), cudaMemcpyDeviceToHost));
    RC4_CUDA(cudaFree(dKeys));
    RC4_CUDA(cudaFree(dOut));

    const byte rfc[4] = {0xb2, 0x39, 0x63, 0x05};
    bool ok = true;
    unsigned sum = 0, secondZero = 0;
    for (int id = 0; id < n; ++id) {
        const std::vector<byte> expected = referenceStream(&keys[id * kKeyBytes], length);
        for (int k = 0; k < length; ++k) {
            ok = ok && out[(size_t)k * n + id] == expected[k];
            sum = sum * 131u + out[(size_t)k * n + id];
        }
        secondZero += out[(size_t)n + id] == 0;
    }
    for (int k = 0; k < 4; ++k)
        ok = ok && out[(size_t)k * n] == rfc[k];
    printf("stream 0:");
    for (int k = 0; k < 8; ++k)
        printf(" %02x", out[(size_t)k * n]);
    printf("\n%d keys, checksum %08x, second byte zero in %u streams\n", n, sum, secondZero);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
