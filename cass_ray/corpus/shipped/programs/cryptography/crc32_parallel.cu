// SPDX-License-Identifier: MIT
// CRC-32 of one long buffer: threads compute the checksums of fixed-size pieces with a table in
// shared memory, then pieces are combined pairwise by multiplying with x^(8 length) modulo the
// polynomial.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(c)                                                               \
    do {                                                                            \
        cudaError_t r = (c);                                                        \
        if (r != cudaSuccess) {                                                     \
            fprintf(stderr, "crc32: %s, line %d\n", cudaGetErrorString(r), __LINE__); \
            exit(2);                                                                \
        }                                                                           \
    } while (0)

constexpr uint32_t kPolynomial = 0xedb88320u;  // reflected
constexpr int kPiece = 64;
constexpr int kThreads = 128;

// Product of two polynomials modulo the CRC polynomial, in reflected bit order.
__host__ __device__ inline uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (int bit = 31; bit >= 0; --bit) {
        if (a >> bit & 1u)
            product ^= b;
        b = b >> 1 ^ (b & 1u ? kPolynomial : 0u);
    }
    return product;
}

// x^(8 * bytes) modulo the polynomial.
__host__ __device__ inline uint32_t shiftFactor(uint64_t bytes)
{
    uint32_t power = 0x00800000u, result = 0x80000000u;  // x^8 and 1
    for (; bytes; bytes >>= 1) {
        if (bytes & 1u)
            result = multiply(result, power);
        power = multiply(power, power);
    }
    return result;
}

__global__ void pieceChecksums(const uint8_t* data, int n, uint32_t* crc, int pieces)
{
    __shared__ uint32_t table[256];
    for (int v = threadIdx.x; v < 256; v += kThreads) {
        uint32_t c = v;
        for (int k = 0; k < 8; ++k)
            c = c >> 1 ^ (c & 1u ? kPolynomial : 0u);
        table[v] = c;
    }
    __syncthreads();
    const int piece = blockIdx.x * kThreads + threadIdx.x;
    if (piece >= pieces)
        return;
    // The short piece comes first, so that all later pieces have full length.
    const int firstLength = n - (pieces - 1) * kPiece;
    const int begin = piece == 0 ? 0 : firstLength + (piece - 1) * kPiece;
    const int end = piece == 0 ? firstLength : begin + kPiece;
    uint32_t c = 0;
    for (int i = begin; i < end; ++i)
        c = table[(c ^ data[i]) & 255u] ^ c >> 8;
    crc[piece] = c;
}

// One block folds all pieces: each thread its run, then a tree over the threads.
__global__ void combine(const uint32_t* crc, int pieces, uint32_t* out)
{
    __shared__ uint32_t value[kThreads];
    __shared__ uint32_t factor;
    const int run = (pieces + kThreads - 1) / kThreads;
    const int last = pieces - (kThreads - 1 - (int)threadIdx.x) * run;  // runs are aligned to the end
    const uint32_t step = shiftFactor(kPiece);
    uint32_t c = 0;
    for (int p = max(last - run, 0); p < last; ++p)
        c = multiply(c, step) ^ crc[p];
    value[threadIdx.x] = c;
    if (threadIdx.x == 0)
        factor = shiftFactor((uint64_t)kPiece * run);
    __syncthreads();
    for (int width = 1; width < kThreads; width *= 2) {
        const bool active = threadIdx.x % (2 * width) == 2 * width - 1;
        if (active)
            value[threadIdx.x] ^= multiply(value[threadIdx.x - width], factor);
        __syncthreads();
        if (threadIdx.x == 0)
            factor = multiply(factor, factor);
        __syncthreads();
    }
    if (threadIdx.x == kThreads - 1)
        *out = value[threadIdx.x];
}

static uint32_t bitwiseCrc(const std::vector<uint8_t>& data)
{
    uint32_t c = 0xffffffffu;
    for (uint8_t byte : data) {
        c ^= byte;
        for (int k = 0; k < 8; ++k)
            c = c >> 1 ^ (c & 1u ? kPolynomial : 0u);
    }
    return ~c;
}

static uint32_t deviceCrc(const std::vector<uint8_t>& data)
{
    const int n = (int)data.size(), pieces = (n + kPiece - 1) / kPiece;
    uint8_t* d;
    uint32_t *crc, result;
    CUDA_CHECK(cudaMalloc(&d, n));
    CUDA_CHECK(cudaMalloc(&crc, (pieces + 1) * sizeof(uint32_t)));
    CUDA_CHECK(cudaMemcpy(d, data.data(), n, cudaMemcpyHostToDevice));
    pieceChecksums<<<(pieces + kThreads - 1) / kThreads, kThreads>>>(d, n, crc, pieces);
    combine<<<1, kThreads>>>(crc, pieces, crc + pieces);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&result, crc + pieces, sizeof result, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d));
    CUDA_CHECK(cudaFree(crc));
    // The initial register of all ones acts as a prefix in front of the whole message.
    return ~(result ^ multiply(0xffffffffu, shiftFactor((uint64_t)n)));
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 50001;
    uint32_t seed = argc > 2 ? (uint32_t)atoi(argv[2]) : 9u;
    if (n < 1)
        return 2;
    const char digits[] = "123456789";
    const uint32_t known = deviceCrc(std::vector<uint8_t>(digits, digits + 9));
    std::vector<uint8_t> data(n);
    for (uint8_t& b : data) {
        seed = seed * 1664525u + 1013904223u;
        b = (uint8_t)(seed >> 24);
    }
    const uint32_t crc = deviceCrc(data);
    const bool ok = known == 0xcbf43926u && crc == bitwiseCrc(data);
    printf("crc32(123456789) = %08x\n", known);
    printf("crc32 of %d bytes = %08x\n", n, crc);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
