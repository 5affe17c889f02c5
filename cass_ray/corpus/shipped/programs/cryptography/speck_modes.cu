// SPDX-License-Identifier: MIT
// Speck block cipher as a template over the word size (Speck64/128 and Speck128/128): encrypts
// in ECB, decrypts again on the device, and compares with the designers' test vectors.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                   \
    do {                                                                           \
        const cudaError_t rc = (call);                                             \
        if (rc != cudaSuccess) {                                                   \
            fprintf(stderr, "speck %d: %s\n", __LINE__, cudaGetErrorString(rc));   \
            exit(2);                                                               \
        }                                                                          \
    } while (0)

template <typename Word, int kRounds>
struct Speck {
    static constexpr int kBits = 8 * (int)sizeof(Word);
    Word key[kRounds];

    static __host__ __device__ Word rotr(Word x, int n) { return (Word)(x >> n | x << (kBits - n)); }

    static __host__ __device__ void mix(Word& x, Word& y, Word k)
    {
        x = (Word)(rotr(x, 8) + y) ^ k;
        y = rotr(y, kBits - 3) ^ x;
    }
    __host__ __device__ void encrypt(Word& x, Word& y) const
    {
        for (int r = 0; r < kRounds; ++r)
            mix(x, y, key[r]);
    }
    __host__ __device__ void decrypt(Word& x, Word& y) const
    {
        for (int r = kRounds - 1; r >= 0; --r) {
            y = rotr(x ^ y, 3);
            x = rotr((Word)((x ^ key[r]) - y), kBits - 8);
        }
    }
    // words[0] becomes the first round key, the others feed the key schedule.
    template <int kWords>
    void schedule(const Word (&words)[kWords])
    {
        Word feed[kWords - 1], k = words[0];
        for (int i = 0; i + 1 < kWords; ++i)
            feed[i] = words[i + 1];
        for (int r = 0; r < kRounds; ++r) {
            key[r] = k;
            mix(feed[r % (kWords - 1)], k, (Word)r);
        }
    }
};

template <class Cipher, typename Word, bool kForward>
__global__ void transform(Cipher cipher, Word* data, int blocks)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks)
        return;
    Word x = data[2 * i], y = data[2 * i + 1];
    if (kForward)
        cipher.encrypt(x, y);
    else
        cipher.decrypt(x, y);
    data[2 * i] = x;
    data[2 * i + 1] = y;
}

template <typename Word, int kRounds, int kWords>
bool runCipher(const char* name, const Word (&key)[kWords], const Word plainVector[2], const Word cipherVector[2],
               int blocks, uint64_t seed)
{
    typedef Speck<Word, kRounds> Cipher;
    Cipher cipher;
    cipher.schedule(key);
    std::vector<Word> plain(2 * blocks), coded(2 * blocks), back(2 * blocks);
    for (Word& w : plain) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        w = (Word)(seed ^ seed >> 29);
    }
    plain[0] = plainVector[0];
    plain[1] = plainVector[1];
    Word* data;
    const size_t bytes = plain.size() * sizeof(Word);
    OK(cudaMalloc(&data, bytes));
    OK(cudaMemcpy(data, plain.data(), bytes, cudaMemcpyHostToDevice));
    const int threads = 128, grid = (blocks + threads - 1) / threads;
    transform<Cipher, Word, true><<<grid, threads>>>(cipher, data, blocks);
    OK(cudaGetLastError());
    OK(cudaMemcpy(coded.data(), data, bytes, cudaMemcpyDeviceToHost));
    transform<Cipher, Word, false><<<grid, threads>>>(cipher, data, blocks);
    OK(cudaGetLastError());
    OK(cudaMemcpy(back.data(), data, bytes, cudaMemcpyDeviceToHost));
    OK(cudaFree(data));

    bool ok = back == plain && coded[0] == cipherVector[0] && coded[1] == cipherVector[1];
    uint64_t sum = 0;
    for (int i = 0; i < blocks; ++i) {
        Word x = plain[2 * i], y = plain[2 * i + 1];
        cipher.encrypt(x, y);
        ok = ok && x == coded[2 * i] && y == coded[2 * i + 1];
        sum = sum * 1099511628211ull + (uint64_t)coded[2 * i] + coded[2 * i + 1];
    }
    printf("%-12s vector %llx %llx checksum %016llx\n", name, (unsigned long long)coded[0],
           (unsigned long long)coded[1], (unsigned long long)sum);
    return ok;
}

int main(int argc, char** argv)
{
    const int blocks = argc > 1 ? atoi(argv[1]) : 2000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 3u;
    if (blocks < 1)
        return 2;
    const uint32_t key64[4] = {0x03020100, 0x0b0a0908, 0x13121110, 0x1b1a1918};
    const uint32_t plain64[2] = {0x3b726574, 0x7475432d}, coded64[2] = {0x8c6fa548, 0x454e028b};
    const uint64_t key128[2] = {0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};
    const uint64_t plain128[2] = {0x6c61766975716520ull, 0x7469206564616d20ull};
    const uint64_t coded128[2] = {0xa65d985179783265ull, 0x7860fedf5c570d18ull};
    bool ok = runCipher<uint32_t, 27, 4>("Speck64/128", key64, plain64, coded64, blocks, seed);
    ok = runCipher<uint64_t, 32, 2>("Speck128/128", key128, plain128, coded128, blocks, seed) && ok;
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
