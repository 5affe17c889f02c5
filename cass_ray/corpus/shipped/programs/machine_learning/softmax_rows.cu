// SPDX-License-Identifier: MIT
// Row-wise softmax and cross-entropy loss: a 32-lane tile of cooperative threads handles one
// row, with the maximum and the denominator reduced by tile shuffles.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK_CUDA(call)                                                         \
    do {                                                                         \
        cudaError_t code = (call);                                               \
        if (code != cudaSuccess) {                                               \
            fprintf(stderr, "softmax: %s (%s)\n", cudaGetErrorString(code), #call); \
            exit(2);                                                             \
        }                                                                        \
    } while (0)

template <class Tile, class Op>
__device__ float allReduce(const Tile& tile, float v, Op op)
{
    for (int offset = tile.size() / 2; offset > 0; offset /= 2)
        v = op(v, tile.shfl_xor(v, offset));
    return v;
}

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Plus {
    __device__ float operator()(float a, float b) const { return a + b; }
};

__global__ void softmax(const float* __restrict__ logits, const int* __restrict__ label, int rows, int columns,
                        float* __restrict__ probability, float* __restrict__ loss)
{
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<32>(block);
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows)
        return;  // the same for all lanes of the tile
    const float* in = logits + (size_t)row * columns;
    float* out = probability + (size_t)row * columns;

    float largest = -INFINITY;
    for (int c = tile.thread_rank(); c < columns; c += 32)
        largest = fmaxf(largest, in[c]);
    largest = allReduce(tile, largest, Larger());

    float sum = 0.0f;
    for (int c = tile.thread_rank(); c < columns; c += 32) {
        const float e = expf(in[c] - largest);
        out[c] = e;
        sum += e;
    }
    sum = allReduce(tile, sum, Plus());

    const float scale = 1.0f / sum;
    for (int c = tile.thread_rank(); c < columns; c += 32)
        out[c] *= scale;
    if (tile.thread_rank() == 0)
        loss[row] = logf(sum) + largest - in[label[row]];
}

int main(int argc, char** argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 150;
    const int columns = argc > 2 ? atoi(argv[2]) : 100;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 4u;
    if (rows < 1 || columns < 1)
        return 2;
    std::vector<float> logits((size_t)rows * columns), probability(logits.size()), loss(rows);
    std::vector<int> label(rows);
    for (float& v : logits) {
        seed = seed * 1664525u + 1013904223u;
        v = (float)(seed >> 16 & 0xfffu) / 512.0f - 4.0f;
    }
    for (int& l : label) {
        seed = seed * 1664525u + 1013904223u;
        l = (int)((seed >> 8) % (unsigned)columns);
    }
    float *dLogits, *dProbability, *dLoss;
    int* dLabel;
    CHECK_CUDA(cudaMalloc(&dLogits, logits.size() * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&dProbability, logits.size() * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&dLoss, rows * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&dLabel, rows * sizeof(int)));
    CHECK_CUDA(cudaMemcpy(dLogits, logits.data(), logits.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(dLabel, label.data(), rows * sizeof(int), cudaMemcpyHostToDevice));
    const int threads = 128, perBlock = threads / 32;
    softmax<<<(rows + perBlock - 1) / perBlock, threads>>>(dLogits, dLabel, rows, columns, dProbability, dLoss);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(probability.data(), dProbability, logits.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaMemcpy(loss.data(), dLoss, rows * sizeof(float), cudaMemcpyDeviceToHost));

    double meanLoss = 0.0, worst = 0.0, peak = 0.0;
    for (int r = 0; r < rows; ++r) {
        const float* in = &logits[(size_t)r * columns];
        double sum = 0.0;
        for (int c = 0; c < columns; ++c)
            sum += exp((double)in[c]);
        for (int c = 0; c < columns; ++c) {
            const double p = probability[(size_t)r * columns + c];
            worst = fmax(worst, fabs(p - exp((double)in[c]) / sum));
            peak = fmax(peak, p);
        }
        worst = fmax(worst, 0.1 * fabs(loss[r] - (log(sum) - in[label[r]])));
        meanLoss += loss[r] / rows;
    }
    printf("rows %d columns %d\n", rows, columns);
    printf("mean loss %.4f, highest probability %.4f\n", meanLoss, peak);
    printf("verify: %s\n", worst < 1e-5 ? "OK" : "MISMATCH");
    CHECK_CUDA(cudaFree(dLogits));
    CHECK_CUDA(cudaFree(dProbability));
    CHECK_CUDA(cudaFree(dLoss));
    CHECK_CUDA(cudaFree(dLabel));
    return worst < 1e-5 ? 0 : 1;
}
