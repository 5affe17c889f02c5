// SPDX-License-Identifier: MIT
// Sparse matrix-vector products in CSR form. A row is shared by 1, 8 or 32 lanes (template
// parameter) and reduced by shuffles within that sub-warp; all variants must agree.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define SPMV_CHECK(x)                                                        \
    do {                                                                     \
        if (cudaError_t e = (x)) {                                           \
            fprintf(stderr, "spmv: %s (%d)\n", cudaGetErrorString(e), __LINE__); \
            exit(2);                                                         \
        }                                                                    \
    } while (0)

struct CsrView {
    const int *rowStart, *column;
    const double* value;
    int rows;
};

template <int kLanes>
__global__ void multiply(CsrView a, const double* __restrict__ x, double* __restrict__ y)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / kLanes, lane = thread % kLanes;
    double sum = 0.0;
    if (row < a.rows)
        for (int k = a.rowStart[row] + lane; k < a.rowStart[row + 1]; k += kLanes)
            sum += a.value[k] * __ldg(&x[a.column[k]]);
#pragma unroll
    for (int offset = kLanes / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset, kLanes);
    if (row < a.rows && lane == 0)
        y[row] = sum;
}

int main(int argc, char** argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 1200;
    const int heavy = argc > 2 ? atoi(argv[2]) : 60;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 100u;
    if (rows < 1 || heavy < 1)
        return 2;
    auto next = [&seed]() {
        seed = seed * 1103515245u + 12345u;
        return seed >> 8;
    };
    // Every sixteenth row is heavy, the others hold a few entries; some rows are empty.
    std::vector<int> rowStart(1, 0), column;
    std::vector<double> value, x(rows), y(rows), expected(rows, 0.0);
    for (int r = 0; r < rows; ++r) {
        const int entries = r % 16 == 5 ? heavy : (int)(next() % 9u);
        for (int k = 0; k < entries; ++k) {
            column.push_back((int)(next() % (unsigned)rows));
            value.push_back((double)(next() % 2001u) / 1000.0 - 1.0);
        }
        rowStart.push_back((int)column.size());
        x[r] = (double)(next() % 1000u) / 500.0;
    }
    for (int r = 0; r < rows; ++r)
        for (int k = rowStart[r]; k < rowStart[r + 1]; ++k)
            expected[r] += value[k] * x[column[k]];

    int *dRowStart, *dColumn;
    double *dValue, *dx, *dy;
    const size_t entries = column.size();
    SPMV_CHECK(cudaMalloc(&dRowStart, rowStart.size() * sizeof(int)));
    SPMV_CHECK(cudaMalloc(&dColumn, (entries + 1) * sizeof(int)));
    SPMV_CHECK(cudaMalloc(&dValue, (entries + 1) * sizeof(double)));
    SPMV_CHECK(cudaMalloc(&dx, rows * sizeof(double)));
    SPMV_CHECK(cudaMalloc(&dy, rows * sizeof(double)));
    SPMV_CHECK(cudaMemcpy(dRowStart, rowStart.data(), rowStart.size() * sizeof(int), cudaMemcpyHostToDevice));
    SPMV_CHECK(cudaMemcpy(dColumn, column.data(), entries * sizeof(int), cudaMemcpyHostToDevice));
    SPMV_CHECK(cudaMemcpy(dValue, value.data(), entries * sizeof(double), cudaMemcpyHostToDevice));
    SPMV_CHECK(cudaMemcpy(dx, x.data(), rows * sizeof(double), cudaMemcpyHostToDevice));
    const CsrView a{dRowStart, dColumn, dValue, rows};
    printf("matrix %d rows, %d entries\n", rows, (int)entries);
    bool ok = true;
    for (int lanes : {1, 8, 32}) {
        SPMV_CHECK(cudaMemset(dy, 0xff, rows * sizeof(double)));
        const int block = 128, grid = (int)(((long long)rows * lanes + block - 1) / block);
        if (lanes == 1)
            multiply<1><<<grid, block>>>(a, dx, dy);
        else if (lanes == 8)
            multiply<8><<<grid, block>>>(a, dx, dy);
        else
            multiply<32><<<grid, block>>>(a, dx, dy);
        SPMV_CHECK(cudaGetLastError());
        SPMV_CHECK(cudaMemcpy(y.data(), dy, rows * sizeof(double), cudaMemcpyDeviceToHost));
        double sum = 0.0;
        for (int r = 0; r < rows; ++r) {
            ok = ok && fabs(y[r] - expected[r]) < 1e-10;
            sum += y[r];
        }
        printf("%2d lanes a row: sum %.6f y[5] %.6f\n", lanes, sum, y[rows > 5 ? 5 : 0]);
    }
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    SPMV_CHECK(cudaFree(dRowStart));
    SPMV_CHECK(cudaFree(dColumn));
    SPMV_CHECK(cudaFree(dValue));
    SPMV_CHECK(cudaFree(dx));
    SPMV_CHECK(cudaFree(dy));
    return ok ? 0 : 1;
}
