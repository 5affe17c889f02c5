// SPDX-License-Identifier: MIT
// SipHash-2-4 of variable-length keys with 64-bit arithmetic, followed by a bucket load census.
// The reference vector of the SipHash paper is verified on the device.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(x)                                                            \
    do {                                                                         \
        cudaError_t e = (x);                                                     \
        if (e != cudaSuccess) {                                                  \
            fprintf(stderr, "siphash: %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
            exit(2);                                                             \
        }                                                                        \
    } while (0)

class SipHash {
public:
    __host__ __device__ SipHash(uint64_t k0, uint64_t k1)
        : v0(k0 ^ 0x736f6d6570736575ull), v1(k1 ^ 0x646f72616e646f6dull),
          v2(k0 ^ 0x6c7967656e657261ull), v3(k1 ^ 0x7465646279746573ull)
    {
    }

    __host__ __device__ uint64_t operator()(const uint8_t* data, int length)
    {
        int i = 0;
        for (; i + 8 <= length; i += 8)
            absorb(load(data + i, 8));
        absorb(load(data + i, length - i) | (uint64_t)length << 56);
        v2 ^= 0xff;
        for (int r = 0; r < 4; ++r)
            round();
        return v0 ^ v1 ^ v2 ^ v3;
    }

private:
    uint64_t v0, v1, v2, v3;

    __host__ __device__ static uint64_t load(const uint8_t* p, int bytes)
    {
        uint64_t m = 0;
        for (int b = 0; b < bytes; ++b)
            m |= (uint64_t)p[b] << (8 * b);
        return m;
    }
    __host__ __device__ static uint64_t rotl(uint64_t x, int n) { return x << n | x >> (64 - n); }
    __host__ __device__ void round()
    {
        v0 += v1, v1 = rotl(v1, 13) ^ v0, v0 = rotl(v0, 32);
        v2 += v3, v3 = rotl(v3, 16) ^ v2;
        v0 += v3, v3 = rotl(v3, 21) ^ v0;
        v2 += v1, v1 = rotl(v1, 17) ^ v2, v2 = rotl(v2, 32);
    }
    __host__ __device__ void absorb(uint64_t m)
    {
        v3 ^= m;
        round();
        round();
        v0 ^= m;
    }
};

__global__ void hashKeys(const uint8_t* bytes, const int* offset, int n, ulonglong2 key, uint64_t* out,
                         unsigned* load, int buckets)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    SipHash hash(key.x, key.y);
    const uint64_t h = hash(bytes + offset[i], offset[i + 1] - offset[i]);
    out[i] = h;
    atomicAdd(&load[h % (uint64_t)buckets], 1u);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 4096;
    uint32_t seed = argc > 2 ? (uint32_t)atoi(argv[2]) : 16u;
    const int buckets = 61;
    if (n < 1)
        return 2;
    // Key 0 is the fifteen-byte vector 00 01 .. 0e of the paper, the rest is random.
    std::vector<uint8_t> bytes;
    std::vector<int> offset = {0, 15};
    for (int b = 0; b < 15; ++b)
        bytes.push_back((uint8_t)b);
    for (int i = 1; i < n; ++i) {
        seed = seed * 1103515245u + 12345u;
        for (int length = 1 + (int)(seed >> 16) % 40; length > 0; --length) {
            seed = seed * 1103515245u + 12345u;
            bytes.push_back((uint8_t)(seed >> 16));
        }
        offset.push_back((int)bytes.size());
    }
    const ulonglong2 key = make_ulonglong2(0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull);
    uint8_t* dBytes;
    int* dOffset;
    uint64_t* dHash;
    unsigned* dLoad;
    CUDA_CHECK(cudaMalloc(&dBytes, bytes.size()));
    CUDA_CHECK(cudaMalloc(&dOffset, offset.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&dHash, n * sizeof(uint64_t)));
    CUDA_CHECK(cudaMalloc(&dLoad, buckets * sizeof(unsigned)));
    CUDA_CHECK(cudaMemset(dLoad, 0, buckets * sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpy(dBytes, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dOffset, offset.data(), offset.size() * sizeof(int), cudaMemcpyHostToDevice));
    hashKeys<<<(n + 127) / 128, 128>>>(dBytes, dOffset, n, key, dHash, dLoad, buckets);
    CUDA_CHECK(cudaGetLastError());
    std::vector<uint64_t> hashes(n);
    std::vector<unsigned> load(buckets), expectedLoad(buckets, 0u);
    CUDA_CHECK(cudaMemcpy(hashes.data(), dHash, n * sizeof(uint64_t), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(load.data(), dLoad, buckets * sizeof(unsigned), cudaMemcpyDeviceToHost));

    bool ok = hashes[0] == 0xa129ca6149be45e5ull;
    uint64_t folded = 0;
    for (int i = 0; i < n; ++i) {
        SipHash hash(key.x, key.y);
        const uint64_t h = hash(bytes.data() + offset[i], offset[i + 1] - offset[i]);
        ok = ok && h == hashes[i];
        ++expectedLoad[h % buckets];
        folded = (folded << 1 | folded >> 63) ^ hashes[i];
    }
    ok = ok && load == expectedLoad;
    unsigned least = load[0], most = load[0];
    for (unsigned l : load) {
        least = l < least ? l : least;
        most = l > most ? l : most;
    }
    printf("paper vector %016llx\n", (unsigned long long)hashes[0]);
    printf("%d keys folded to %016llx, bucket load %u..%u\n", n, (unsigned long long)folded, least, most);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CUDA_CHECK(cudaFree(dBytes));
    CUDA_CHECK(cudaFree(dOffset));
    CUDA_CHECK(cudaFree(dHash));
    CUDA_CHECK(cudaFree(dLoad));
    return ok ? 0 : 1;
}
