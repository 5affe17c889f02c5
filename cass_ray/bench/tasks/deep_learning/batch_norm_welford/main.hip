// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Batch normalisation with Welford statistics merged across lanes and warps, and running
// averages.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void stopOnError(hipError_t status, const char* what, int line)
{
    if (status == hipSuccess)
        return;
    fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(status));
    exit(2);
}
#define HIP_CHECK(call) stopOnError((call), #call, __LINE__)

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

static int int_arg(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* to_device(const std::vector<T>& values)
{
    T* memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    HIP_CHECK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* device_zeros(size_t count)
{
    T* memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, count * sizeof(T)));
    HIP_CHECK(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> to_host(const T* memory, size_t count)
{
    std::vector<T> values(count);
    HIP_CHECK(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

template <typename T>
static void show_real(const char* label, const std::vector<T>& values, size_t count = 8)
{
    printf("%s:", label);
    const size_t step = values.size() > count ? values.size() / count : 1;
    for (size_t i = 0; i < values.size(); i += step)
        printf(" %.5f", (double)values[i] == 0.0 ? 0.0 : (double)values[i]);
    printf("\n");
}

static int finish(bool right)
{
    HIP_CHECK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

struct Moments {
    double count, mean, squares;
};

__device__ Moments merge(const Moments& a, const Moments& b)
{
    const double count = a.count + b.count;
    if (count == 0.0)
        return a;
    const double delta = b.mean - a.mean;
    Moments r;
    r.count = count;
    r.mean = a.mean + delta * b.count / count;
    r.squares = a.squares + b.squares + delta * delta * a.count * b.count / count;
    return r;
}

__device__ Moments mergeAcrossWarp(Moments m)
{
    for (int offset = 16; offset > 0; offset >>= 1) {
        Moments other;
        other.count = __shfl_down(m.count, offset, 32);
        other.mean = __shfl_down(m.mean, offset, 32);
        other.squares = __shfl_down(m.squares, offset, 32);
        m = merge(m, other);
    }
    return m;
}

__global__ void batchNorm(const float* x, float* y, double* statistics, double* running, int channels,
                          int n, float gamma, float beta)
{
    __shared__ Moments perWarp[32];
    __shared__ Moments all;
    const int c = blockIdx.x;
    Moments m = {0.0, 0.0, 0.0};
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const double v = x[i * channels + c];
        m.count += 1.0;
        const double delta = v - m.mean;
        m.mean += delta / m.count;
        m.squares += delta * (v - m.mean);
    }
    m = mergeAcrossWarp(m);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    if (lane == 0)
        perWarp[warp] = m;
    __syncthreads();
    if (threadIdx.x == 0) {
        Moments total = perWarp[0];
        for (int w = 1; w < warps; ++w)
            total = merge(total, perWarp[w]);
        all = total;
        const double variance = total.squares / total.count;
        statistics[2 * c] = total.mean;
        statistics[2 * c + 1] = variance;
        running[2 * c] = 0.9 * running[2 * c] + 0.1 * total.mean;
        running[2 * c + 1] = 0.9 * running[2 * c + 1] + 0.1 * variance * n / (n > 1 ? n - 1 : 1);
    }
    __syncthreads();
    const double scale = gamma / sqrt(all.squares / all.count + 1e-5);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[i * channels + c] = (float)((x[i * channels + c] - all.mean) * scale + beta);
}

int main(int argc, char** argv)
{
    const int channels = int_arg(argc, argv, 1, 12);
    const int n = int_arg(argc, argv, 2, 300);
    Random random((unsigned)int_arg(argc, argv, 3, 3));
    if (channels < 1 || n < 1)
        return 2;
    std::vector<float> x(channels * n);
    for (int i = 0; i < channels * n; ++i)
        x[i] = (float)(i % channels) * 4.0f + (float)random.below(4096) / 1024.0f;
    float* dX = to_device(x);
    float* dY = device_zeros<float>(channels * n);
    double* dStatistics = device_zeros<double>(2 * channels);
    double* dRunning = to_device(std::vector<double>(2 * channels, 1.0));
    for (int step = 0; step < 3; ++step) {
        batchNorm<<<channels, 128>>>(step == 0 ? dX : dY, dY, dStatistics, dRunning, channels, n,
                                     1.5f + step, 0.25f);
        HIP_CHECK(hipGetLastError());
        const std::vector<double> s = to_host(dStatistics, 2 * channels);
        double means = 0, variances = 0;
        for (int c = 0; c < channels; ++c) {
            means += s[2 * c] * (c + 1);
            variances += s[2 * c + 1] * (c + 1);
        }
        printf("step %d: means %.4f variances %.4f\n", step, means, variances);
    }
    const std::vector<float> y = to_host(dY, channels * n);
    show_real("running", to_host(dRunning, 2 * channels), 12);
    double worst = 0, sum = 0;
    for (int c = 0; c < channels; ++c) {
        double mean = 0;
        for (int i = 0; i < n; ++i) {
            mean += y[i * channels + c];
            sum += fabs((double)y[i * channels + c]) * (1 + i % 5);
        }
        worst = std::max(worst, fabs(mean / n - 0.25));
    }
    printf("sum %.2f\n", sum);
    show_real("y", y, 6);
    return finish(worst < 1e-4);
}
