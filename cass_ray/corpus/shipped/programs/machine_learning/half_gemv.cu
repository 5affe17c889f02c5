// SPDX-License-Identifier: MIT
// Matrix-vector product with half-precision storage: pairs are read as half2, products are
// accumulated in float by one warp per row, and a second kernel does the elementwise gate in half.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HG_CHECK(x)                                                             \
    do {                                                                        \
        cudaError_t e = (x);                                                    \
        if (e != cudaSuccess) {                                                 \
            fprintf(stderr, "half_gemv.cu:%d: %s\n", __LINE__, cudaGetErrorString(e)); \
            exit(2);                                                            \
        }                                                                       \
    } while (0)

__global__ void gemv(const __half2* __restrict__ matrix, const __half2* __restrict__ x, float* __restrict__ y, int rows,
                     int pairs)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    if (row < rows)
        for (int p = threadIdx.x; p < pairs; p += 32) {
            const float2 a = __half22float2(matrix[(size_t)row * pairs + p]);
            const float2 b = __half22float2(x[p]);
            sum += a.x * b.x + a.y * b.y;
        }
    for (int offset = 16; offset > 0; offset >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (row < rows && threadIdx.x == 0)
        y[row] = sum;
}

// gate = y * 0.5 + bias, two rows at a time.
__global__ void gate(const float* __restrict__ y, const __half2* __restrict__ bias, __half2* __restrict__ out, int pairs)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs)
        out[i] = __hfma2(__floats2half2_rn(y[2 * i], y[2 * i + 1]), __floats2half2_rn(0.5f, 0.5f), bias[i]);
}

int main(int argc, char** argv)
{
    const int rows = (argc > 1 ? atoi(argv[1]) : 200) & ~1;
    const int columns = (argc > 2 ? atoi(argv[2]) : 256) & ~1;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 5u;
    if (rows < 2 || columns < 2)
        return 2;
    // Multiples of 1/128 in [-1, 1) are exact in half precision.
    auto draw = [&seed]() {
        seed = seed * 1103515245u + 12345u;
        return (float)(int)(seed >> 16 & 0xffu) / 128.0f - 1.0f;
    };
    std::vector<float> a((size_t)rows * columns), x(columns), bias(rows);
    std::vector<__half> ha(a.size()), hx(columns), hbias(rows), hout(rows);
    for (size_t i = 0; i < a.size(); ++i)
        ha[i] = __float2half(a[i] = draw());
    for (int i = 0; i < columns; ++i)
        hx[i] = __float2half(x[i] = draw());
    for (int i = 0; i < rows; ++i)
        hbias[i] = __float2half(bias[i] = draw());

    __half *dA, *dX, *dBias, *dOut;
    float* dY;
    HG_CHECK(cudaMalloc(&dA, a.size() * sizeof(__half)));
    HG_CHECK(cudaMalloc(&dX, columns * sizeof(__half)));
    HG_CHECK(cudaMalloc(&dBias, rows * sizeof(__half)));
    HG_CHECK(cudaMalloc(&dOut, rows * sizeof(__half)));
    HG_CHECK(cudaMalloc(&dY, rows * sizeof(float)));
    HG_CHECK(cudaMemcpy(dA, ha.data(), a.size() * sizeof(__half), cudaMemcpyHostToDevice));
    HG_CHECK(cudaMemcpy(dX, hx.data(), columns * sizeof(__half), cudaMemcpyHostToDevice));
    HG_CHECK(cudaMemcpy(dBias, hbias.data(), rows * sizeof(__half), cudaMemcpyHostToDevice));
    gemv<<<(rows + 3) / 4, dim3(32, 4)>>>((const __half2*)dA, (const __half2*)dX, dY, rows, columns / 2);
    gate<<<(rows / 2 + 63) / 64, 64>>>(dY, (const __half2*)dBias, (__half2*)dOut, rows / 2);
    HG_CHECK(cudaGetLastError());
    std::vector<float> y(rows);
    HG_CHECK(cudaMemcpy(y.data(), dY, rows * sizeof(float), cudaMemcpyDeviceToHost));
    HG_CHECK(cudaMemcpy(hout.data(), dOut, rows * sizeof(__half), cudaMemcpyDeviceToHost));

    double worst = 0.0, worstGate = 0.0, norm = 0.0;
    for (int r = 0; r < rows; ++r) {
        double sum = 0.0;
        for (int c = 0; c < columns; ++c)
            sum += (double)a[(size_t)r * columns + c] * x[c];
        const double gated = 0.5 * sum + bias[r];
        worst = fmax(worst, fabs(y[r] - sum));
        worstGate = fmax(worstGate, fabs(__half2float(hout[r]) - gated) / (1.0 + fabs(gated)));
        norm += (double)y[r] * y[r];
    }
    const bool ok = worst < 1e-3 && worstGate < 2e-3;
    printf("matrix %dx%d in half precision\n", rows, columns);
    printf("norm %.3f y[0] %.4f gate[0] %.2f\n", sqrt(norm), y[0], __half2float(hout[0]));
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    HG_CHECK(cudaFree(dA));
    HG_CHECK(cudaFree(dX));
    HG_CHECK(cudaFree(dBias));
    HG_CHECK(cudaFree(dOut));
    HG_CHECK(cudaFree(dY));
    return ok ? 0 : 1;
}
