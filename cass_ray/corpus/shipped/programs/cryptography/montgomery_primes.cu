// SPDX-License-Identifier: MIT
// Deterministic Miller-Rabin test of 64-bit numbers with Montgomery multiplication on the
// 64-bit high multiply. Counts primes in a window and compares with plain 128-bit arithmetic.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef unsigned long long u64;

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t error = (call);                                                       \
        if (error != cudaSuccess) {                                                       \
            fprintf(stderr, "montgomery: %s (line %d)\n", cudaGetErrorString(error), __LINE__); \
            exit(2);                                                                      \
        }                                                                                 \
    } while (0)

__constant__ u64 witnesses[7] = {2, 325, 9375, 28178, 450775, 9780504, 1795265022};

struct Montgomery {
    u64 n, inverse, one, r2;  // -n^-1 mod 2^64, 2^64 mod n, 2^128 mod n

    __device__ explicit Montgomery(u64 modulus) : n(modulus)
    {
        u64 x = n;  // correct to three bits, each step doubles them
        for (int i = 0; i < 5; ++i)
            x *= 2 - n * x;
        inverse = 0 - x;
        one = (0 - n) % n;
        r2 = one;
        for (int i = 0; i < 64; ++i)
            r2 = addMod(r2, r2);
    }

    __device__ u64 addMod(u64 a, u64 b) const
    {
        const u64 s = a + b;
        return s < a || s >= n ? s - n : s;
    }

    // a * b / 2^64 mod n
    __device__ u64 multiply(u64 a, u64 b) const
    {
        const u64 low = a * b, high = __umul64hi(a, b);
        const u64 m = low * inverse;
        const u64 carry = low != 0;  // low + low half of m*n is 0 or 2^64
        return addMod(high, __umul64hi(m, n) + carry == n ? 0 : __umul64hi(m, n) + carry);
    }
};

__device__ bool isPrime(u64 n)
{
    if (n < 2 || n % 2 == 0)
        return n == 2;
    const Montgomery field(n);
    u64 d = n - 1;
    int twos = __ffsll((long long)d) - 1;
    d >>= twos;
    const u64 minusOne = n - field.one;
    for (int w = 0; w < 7; ++w) {
        const u64 base = witnesses[w] % n;
        if (base == 0)
            continue;
        u64 power = field.multiply(base, field.r2), result = field.one;
        for (u64 e = d; e; e >>= 1) {
            if (e & 1)
                result = field.multiply(result, power);
            power = field.multiply(power, power);
        }
        if (result == field.one || result == minusOne)
            continue;
        bool composite = true;
        for (int s = 1; s < twos && composite; ++s) {
            result = field.multiply(result, result);
            composite = result != minusOne;
        }
        if (composite)
            return false;
    }
    return true;
}

__global__ void testWindow(u64 start, int count, unsigned* flags, int* primes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool prime = i < count && isPrime(start + 2ull * i);
    const unsigned votes = __ballot_sync(0xffffffffu, prime);
    if (threadIdx.x % 32 == 0) {
        flags[i / 32] = votes;
        if (votes)
            atomicAdd(primes, __popc(votes));
    }
}

static u64 hostPower(u64 b, u64 e, u64 n)
{
    u64 r = 1;
    for (b %= n; e; e >>= 1) {
        if (e & 1)
            r = (u64)((unsigned __int128)r * b % n);
        b = (u64)((unsigned __int128)b * b % n);
    }
    return r;
}

static bool hostIsPrime(u64 n)
{
    if (n < 2 || n % 2 == 0)
        return n == 2;
    const int bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    u64 d = n - 1;
    int twos = 0;
    for (; d % 2 == 0; d /= 2)
        ++twos;
    for (int b : bases) {
        if (n % b == 0)
            return n == (u64)b;
        u64 x = hostPower(b, d, n);
        bool probable = x == 1 || x == n - 1;
        for (int s = 1; s < twos && !probable; ++s) {
            x = (u64)((unsigned __int128)x * x % n);
            probable = x == n - 1;
        }
        if (!probable)
            return false;
    }
    return true;
}

int main(int argc, char** argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 1024;
    const u64 start = (argc > 2 ? strtoull(argv[2], nullptr, 10) : 1000000000000000001ull) | 1;
    if (count < 1 || start + 2ull * count < start)
        return 2;
    const int block = 64, grid = (count + block - 1) / block;
    unsigned* flags;
    int* primes;
    CUDA_CHECK(cudaMalloc(&flags, grid * block / 32 * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&primes, sizeof(int)));
    CUDA_CHECK(cudaMemset(primes, 0, sizeof(int)));
    testWindow<<<grid, block>>>(start, count, flags, primes);
    CUDA_CHECK(cudaGetLastError());
    std::vector<unsigned> words(grid * block / 32);
    int found = 0;
    CUDA_CHECK(cudaMemcpy(words.data(), flags, words.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&found, primes, sizeof found, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(flags));
    CUDA_CHECK(cudaFree(primes));

    int wrong = 0, expected = 0;
    u64 first = 0;
    for (int i = 0; i < count; ++i) {
        const bool device = words[i / 32] >> (i % 32) & 1u, host = hostIsPrime(start + 2ull * i);
        wrong += device != host;
        expected += host;
        if (device && !first)
            first = start + 2ull * i;
    }
    printf("odd numbers tested %d from %llu\n", count, start);
    printf("primes %d, first %llu\n", found, first);
    const bool ok = wrong == 0 && found == expected;
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
