// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Batched Cholesky factorisation and solution of small systems, a row for each lane of a half-
// warp with columns broadcast by shuffles.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define GPU_OK(call)                                                                  \
    do {                                                                             \
        const hipError_t status_ = (call);                                          \
        if (status_ != hipSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status_)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

struct Random {
    unsigned x;
    explicit Random(unsigned seed) : x(seed ^ 0x9e3779b9u)
    {
        if (x == 0)
            x = 1;
    }
    unsigned next()
    {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        return x * 0x2545f491u;
    }
    unsigned below(unsigned bound) { return (next() >> 4) % bound; }
};

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* upload(const std::vector<T>& values)
{
    T* memory = nullptr;
    GPU_OK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    GPU_OK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* deviceZeros(size_t count)
{
    T* memory = nullptr;
    GPU_OK(hipMalloc(&memory, count * sizeof(T)));
    GPU_OK(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> download(const T* memory, size_t count)
{
    std::vector<T> values(count);
    GPU_OK(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
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
    GPU_OK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

#define GROUP 16

// Half a warp for each system: lane r holds row r of the lower triangle in registers.
__global__ void choleskySolve(const double* matrices, const double* rights, double* solutions, double* logDeterminants,
                              int n, int batch)
{
    const int system = blockIdx.x * (blockDim.x / GROUP) + threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
    const bool inside = system < batch;
    const double* matrix = matrices + (size_t)(inside ? system : 0) * n * n;
    double row[GROUP];
#pragma unroll
    for (int j = 0; j < GROUP; ++j)
        row[j] = lane < n && j < n ? matrix[lane * n + j] : (lane == j ? 1.0 : 0.0);
    double b = inside && lane < n ? rights[system * n + lane] : 0.0;
    double diagonal = 1.0;
#pragma unroll
    for (int k = 0; k < GROUP; ++k) {
        const double pivot = sqrt(__shfl(row[k], k, GROUP));
        const double value = lane == k ? pivot : row[k] / pivot;
        row[k] = value;
        diagonal = lane == k ? pivot : diagonal;
#pragma unroll
        for (int j = k + 1; j < GROUP; ++j)
            row[j] -= value * __shfl(value, j, GROUP);
        // Forward substitution on the way.
        const double y = __shfl(b, k, GROUP) / pivot;
        b = lane == k ? y : lane > k ? b - value * y : b;
    }
    // Backward: column k of the transposed factor is row k, held by lane k.
    double x = 0.0;
#pragma unroll
    for (int k = GROUP - 1; k >= 0; --k) {
        const double below = lane > k ? row[k] * x : 0.0;
        double sum = below;
        for (int offset = GROUP / 2; offset > 0; offset /= 2)
            sum += __shfl_xor(sum, offset, GROUP);
        if (lane == k)
            x = (b - sum) / row[k];
    }
    double logarithm = 2.0 * log(diagonal);
    for (int offset = GROUP / 2; offset > 0; offset /= 2)
        logarithm += __shfl_xor(logarithm, offset, GROUP);
    if (inside && lane < n)
        solutions[system * n + lane] = x;
    if (inside && lane == 0)
        logDeterminants[system] = logarithm;
}

int main(int argc, char** argv)
{
    const int batch = argument(argc, argv, 1, 7);
    const int n = argument(argc, argv, 2, 14);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (batch < 1 || n < 1 || n > GROUP)
        return 2;
    std::vector<double> matrices(batch * n * n), rights(batch * n);
    for (int s = 0; s < batch; ++s) {
        std::vector<double> g(n * n);
        for (double& v : g)
            v = (int)random.below(200) / 100.0 - 1.0;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                double sum = i == j ? 2.0 : 0.0;
                for (int k = 0; k < n; ++k)
                    sum += g[i * n + k] * g[j * n + k];
                matrices[(s * n + i) * n + j] = sum;
            }
        for (int i = 0; i < n; ++i)
            rights[s * n + i] = (int)random.below(2000) / 100.0;
    }
    double* dMatrices = upload(matrices);
    double* dRights = upload(rights);
    double* dSolutions = deviceZeros<double>(batch * n);
    double* dLog = deviceZeros<double>(batch);
    choleskySolve<<<(batch + 3) / 4, 4 * GROUP>>>(dMatrices, dRights, dSolutions, dLog, n, batch);
    GPU_OK(hipGetLastError());
    const std::vector<double> x = download(dSolutions, batch * n), logs = download(dLog, batch);
    double worst = 0, sum = 0, weighted = 0;
    for (int s = 0; s < batch; ++s)
        for (int i = 0; i < n; ++i) {
            double residual = -rights[s * n + i];
            for (int j = 0; j < n; ++j)
                residual += matrices[(s * n + i) * n + j] * x[s * n + j];
            worst = std::max(worst, fabs(residual));
            sum += x[s * n + i];
            weighted += x[s * n + i] * (1 + (s + i) % 7);
        }
    printf("batch %d, order %d: sum %.6f, weighted %.6f\n", batch, n, sum, weighted);
    showReal("solutions", x, 10);
    showReal("log determinants", logs, 6);
    return finish(worst < 1e-8);
}
