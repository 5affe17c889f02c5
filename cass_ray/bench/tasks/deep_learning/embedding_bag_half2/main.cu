// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Sums, means and maxima of bags of half2 embedding rows, one half-warp for each bag, with
// fused multiply-adds in half precision.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void stopOnError(cudaError_t status, const char* what, int line)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(status));
    exit(2);
}
#define CHECK(call) stopOnError((call), #call, __LINE__)

struct Random {
    unsigned counter;
    explicit Random(unsigned seed) : counter(seed * 7919u) {}
    unsigned next()
    {
        unsigned z = counter += 0x9e3779b9u;
        z = (z ^ (z >> 16)) * 0x21f0aaadu;
        z = (z ^ (z >> 15)) * 0x735a2d97u;
        return z ^ (z >> 15);
    }
    unsigned below(unsigned bound) { return (unsigned)(((unsigned long long)next() * bound) >> 32); }
};

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* toDevice(const std::vector<T>& values)
{
    T* memory = nullptr;
    CHECK(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* zeros(size_t count)
{
    T* memory = nullptr;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> toHost(const T* memory, size_t count)
{
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

template <typename T>
static void showReal(const char* label, const std::vector<T>& values, size_t count = 8)
{
    printf("%s:", label);
    const size_t step = values.size() > count ? values.size() / count : 1;
    for (size_t i = 0; i < values.size(); i += step)
        printf(" %.5f", (double)values[i] == 0.0 ? 0.0 : (double)values[i]);
    printf("\n");
}

static int finish(bool right)
{
    CHECK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

#define PAIRS 16

// Sixteen lanes share a bag; every lane holds two columns of the row.
__global__ void embeddingBag(const __half2* __restrict__ table, const int* __restrict__ indices,
                             const int* __restrict__ offsets, const __half* __restrict__ weights,
                             __half2* sums, __half2* peaks, float* norms, int bags)
{
    const int bag = (blockIdx.x * blockDim.x + threadIdx.x) / PAIRS, pair = threadIdx.x % PAIRS;
    const int first = bag < bags ? offsets[bag] : 0, last = bag < bags ? offsets[bag + 1] : 0;
    __half2 sum = __float2half2_rn(0.0f), peak = __float2half2_rn(-64.0f);
    for (int i = first; i < last; ++i) {
        const __half2 row = __ldg(&table[indices[i] * PAIRS + pair]);
        sum = __hfma2(row, __half2half2(weights[i]), sum);
        peak = __halves2half2(__hgt(__low2half(row), __low2half(peak)) ? __low2half(row) : __low2half(peak),
                              __hgt(__high2half(row), __high2half(peak)) ? __high2half(row) : __high2half(peak));
    }
    if (last > first)
        sum = __hmul2(sum, __float2half2_rn(0.5f));
    const float2 wide = __half22float2(sum);
    float norm = wide.x * wide.x + wide.y * wide.y;
    for (int offset = PAIRS / 2; offset > 0; offset >>= 1)
        norm += __shfl_xor_sync(0xffffffffu, norm, offset, PAIRS);
    if (bag >= bags)
        return;
    sums[bag * PAIRS + pair] = sum;
    peaks[bag * PAIRS + pair] = __hadd2(peak, __hneg2(__floats2half2_rn(1.0f, 0.5f)));
    if (pair == 0)
        norms[bag] = norm;
}

int main(int argc, char** argv)
{
    const int bags = argument(argc, argv, 1, 70);
    const int longest = argument(argc, argv, 2, 10);
    Random random((unsigned)argument(argc, argv, 3, 1));
    const int rows = 64;
    if (bags < 1 || longest < 1)
        return 2;
    std::vector<__half> table(rows * 2 * PAIRS);
    // Quarters below eight: all sums are exact in half precision.
    for (__half& v : table)
        v = __float2half((float)((int)random.below(17) - 8) * 0.25f);
    std::vector<int> offsets(1, 0), indices;
    std::vector<__half> weights;
    for (int b = 0; b < bags; ++b) {
        const int count = (int)random.below(longest + 1);
        for (int i = 0; i < count; ++i) {
            indices.push_back((int)random.below(rows));
            weights.push_back(__float2half((float)((int)random.below(5) - 2)));
        }
        offsets.push_back((int)indices.size());
    }
    __half* dTable = toDevice(table);
    int* dIndices = toDevice(indices);
    int* dOffsets = toDevice(offsets);
    __half* dWeights = toDevice(weights);
    __half* dSums = zeros<__half>(bags * 2 * PAIRS);
    __half* dPeaks = zeros<__half>(bags * 2 * PAIRS);
    float* dNorms = zeros<float>(bags);
    embeddingBag<<<(bags * PAIRS + 127) / 128, 128>>>((const __half2*)dTable, dIndices, dOffsets, dWeights,
                                                      (__half2*)dSums, (__half2*)dPeaks, dNorms, bags);
    CHECK(cudaGetLastError());
    const std::vector<__half> sums = toHost(dSums, bags * 2 * PAIRS), peaks = toHost(dPeaks, bags * 2 * PAIRS);
    const std::vector<float> norms = toHost(dNorms, bags);
    int wrong = 0;
    double total = 0, peakTotal = 0, normTotal = 0;
    for (int b = 0; b < bags; ++b) {
        double norm = 0;
        for (int d = 0; d < 2 * PAIRS; ++d) {
            double sum = 0, peak = -64.0;
            for (int i = offsets[b]; i < offsets[b + 1]; ++i) {
                const double v = __half2float(table[indices[i] * 2 * PAIRS + d]);
                sum += 0.5 * v * __half2float(weights[i]);
                peak = std::max(peak, v);
            }
            peak -= d % 2 ? 0.5 : 1.0;
            wrong += __half2float(sums[b * 2 * PAIRS + d]) != sum;
            wrong += __half2float(peaks[b * 2 * PAIRS + d]) != peak;
            norm += sum * sum;
            total += sum * (1 + d);
            peakTotal += peak * (1 + d);
        }
        wrong += fabs(norm - norms[b]) > 1e-3 * (1.0 + norm);
        normTotal += norms[b] * (1 + b % 7);
    }
    printf("%d bags of %zu rows: sums %.3f peaks %.3f norms %.3f\n", bags, indices.size(), total, peakTotal,
           normTotal);
    showReal("norms", norms, 10);
    return finish(wrong == 0);
}
