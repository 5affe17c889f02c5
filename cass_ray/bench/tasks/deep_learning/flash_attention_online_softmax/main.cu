// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Causal attention with an online softmax over key tiles in dynamic shared memory, one warp
// for each query.
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                             \
        const cudaError_t status_ = (call);                                          \
        if (status_ != cudaSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

class Random {
public:
    explicit Random(unsigned seed) : state(seed * 2654435761u + 12345u) {}
    unsigned next()
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (unsigned)(state >> 32);
    }
    unsigned below(unsigned bound) { return next() % bound; }

private:
    unsigned long long state;
};

static int int_arg(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* to_device(const std::vector<T>& values)
{
    T* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* device_zeros(size_t count)
{
    T* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CUDA_CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> to_host(const T* memory, size_t count)
{
    std::vector<T> values(count);
    CUDA_CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

static int finish(bool right)
{
    CUDA_CHECK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

#define WARP 32

template <int Dim>
__global__ void attention(const float* q, const float* k, const float* v, float* out, float* logSums,
                          int length, int tile)
{
    extern __shared__ float shared[];
    float* keys = shared;
    float* values = shared + tile * Dim;
    constexpr int kPerLane = Dim / WARP;
    const int lane = threadIdx.x % WARP;
    const int row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    const size_t head = (size_t)blockIdx.y * length * Dim;
    float query[kPerLane], sum[kPerLane];
    for (int d = 0; d < kPerLane; ++d) {
        query[d] = row < length ? q[head + row * Dim + d * WARP + lane] : 0.0f;
        sum[d] = 0.0f;
    }
    float most = -1.0e30f, denominator = 0.0f;
    for (int start = 0; start < length; start += tile) {
        __syncthreads();
        for (int i = threadIdx.x; i < tile * Dim; i += blockDim.x) {
            const bool inside = start + i / Dim < length;
            keys[i] = inside ? k[head + start * Dim + i] : 0.0f;
            values[i] = inside ? v[head + start * Dim + i] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < tile && start + j <= row && row < length; ++j) {
            float score = 0.0f;
            for (int d = 0; d < kPerLane; ++d)
                score += query[d] * keys[j * Dim + d * WARP + lane];
            for (int offset = WARP / 2; offset > 0; offset /= 2)
                score += __shfl_xor_sync(0xffffffffu, score, offset, WARP);
            score *= rsqrtf((float)Dim);
            const float larger = fmaxf(most, score);
            const float shrink = expf(most - larger), weight = expf(score - larger);
            denominator = denominator * shrink + weight;
            for (int d = 0; d < kPerLane; ++d)
                sum[d] = sum[d] * shrink + weight * values[j * Dim + d * WARP + lane];
            most = larger;
        }
    }
    if (row >= length)
        return;
    for (int d = 0; d < kPerLane; ++d)
        out[head + row * Dim + d * WARP + lane] = sum[d] / denominator;
    if (lane == 0)
        logSums[blockIdx.y * length + row] = most + logf(denominator);
}

int main(int argc, char** argv)
{
    const int length = int_arg(argc, argv, 1, 50);
    const int heads = int_arg(argc, argv, 2, 2);
    Random random((unsigned)int_arg(argc, argv, 3, 3));
    const int dim = 64, tile = 16;
    if (length < 1 || heads < 1)
        return 2;
    const int count = heads * length * dim;
    std::vector<float> q(count), k(count), v(count);
    for (int i = 0; i < count; ++i) {
        q[i] = (float)random.below(2001) / 1000.0f - 1.0f;
        k[i] = (float)random.below(2001) / 1000.0f - 1.0f;
        v[i] = (float)random.below(2001) / 500.0f;
    }
    float* dQ = to_device(q);
    float* dK = to_device(k);
    float* dV = to_device(v);
    float* dOut = device_zeros<float>(count);
    float* dLog = device_zeros<float>(heads * length);
    const dim3 grid((length + 3) / 4, heads);
    attention<64><<<grid, 4 * WARP, 2 * tile * dim * sizeof(float)>>>(dQ, dK, dV, dOut, dLog, length, tile);
    CUDA_CHECK(cudaGetLastError());
    const std::vector<float> out = to_host(dOut, count), logs = to_host(dLog, heads * length);
    double worst = 0;
    for (int h = 0; h < heads; ++h)
        for (int row = 0; row < length; row += 7) {
            std::vector<double> weight(row + 1);
            double total = 0;
            for (int j = 0; j <= row; ++j) {
                double score = 0;
                for (int d = 0; d < dim; ++d)
                    score += (double)q[(h * length + row) * dim + d] * k[(h * length + j) * dim + d];
                weight[j] = exp(score / 8.0);
                total += weight[j];
            }
            for (int d = 0; d < dim; d += 5) {
                double expected = 0;
                for (int j = 0; j <= row; ++j)
                    expected += weight[j] / total * v[(h * length + j) * dim + d];
                worst = std::max(worst, fabs(expected - out[(h * length + row) * dim + d]));
            }
            worst = std::max(worst, fabs(log(total) - logs[h * length + row]));
        }
    double sum = 0, weighted = 0;
    for (int i = 0; i < count; ++i) {
        sum += out[i];
        weighted += out[i] * (1 + i % 13);
    }
    printf("heads %d, length %d: sum %.3f, weighted %.3f\n", heads, length, sum, weighted);
    for (int h = 0; h < heads; ++h)
        printf("head %d: first %.4f last %.4f log-sum %.4f\n", h, out[h * length * dim],
               out[(h + 1) * length * dim - 1], logs[(h + 1) * length - 1] + 10.0f);
    return finish(worst < 1e-4);
}
