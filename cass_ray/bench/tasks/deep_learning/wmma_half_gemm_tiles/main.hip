// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Matrix product of half-precision tiles accumulated in float by tensor-core fragments, with a
// bias and a rectifier.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRY(call)                                                                  \
    do {                                                                             \
        const hipError_t status_ = (call);                                          \
        if (status_ != hipSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status_)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

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
static T* copyIn(const std::vector<T>& values)
{
    T* memory = nullptr;
    TRY(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    TRY(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* cleared(size_t count)
{
    T* memory = nullptr;
    TRY(hipMalloc(&memory, count * sizeof(T)));
    TRY(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> copyOut(const T* memory, size_t count)
{
    std::vector<T> values(count);
    TRY(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

// FNV-1a over the bytes of all values.
template <typename T>
static unsigned hashOf(const std::vector<T>& values)
{
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(values.data());
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < values.size() * sizeof(T); ++i)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
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

static int conclude(bool right)
{
    TRY(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

// One block of 64 threads computes one 16 x 16 tile of relu(A B + bias); A is row-major, B
// column-major. Plain arithmetic: it runs on every AMD GPU, with matrix instructions or without.
__global__ void gemm(const half* a, const half* b, const float* bias, float* c, int rowTiles,
                     int columnTiles, int innerTiles)
{
    __shared__ float staged[16 * 16];
    const int rowTile = blockIdx.y, columnTile = blockIdx.x;
    const int inner = innerTiles * 16, columns = columnTiles * 16;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    const int tileRow = threadIdx.x / 4, tileColumn = threadIdx.x % 4 * 4;
    const half* rowOfA = a + (rowTile * 16 + tileRow) * inner;
    const half* columnOfB = b + (columnTile * 16 + tileColumn) * inner;
    for (int k = 0; k < inner; ++k) {
        const float left = __half2float(rowOfA[k]);
        for (int j = 0; j < 4; ++j)
            sum[j] += left * __half2float(columnOfB[j * inner + k]);
    }
    for (int j = 0; j < 4; ++j)
        staged[tileRow * 16 + tileColumn + j] = sum[j] * 0.25f;
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 64) {
        const int row = rowTile * 16 + i / 16, column = columnTile * 16 + i % 16;
        c[row * columns + column] = fmaxf(staged[i] + bias[column], 0.0f);
    }
}

int main(int argc, char** argv)
{
    const int rowTiles = argument(argc, argv, 1, 3);
    const int columnTiles = argument(argc, argv, 2, 2);
    const int innerTiles = argument(argc, argv, 3, 3);
    Random random((unsigned)argument(argc, argv, 4, 1));
    if (rowTiles < 1 || columnTiles < 1 || innerTiles < 1)
        return 2;
    const int m = rowTiles * 16, n = columnTiles * 16, k = innerTiles * 16;
    std::vector<int> ia(m * k), ib(n * k);
    std::vector<half> a(m * k), b(n * k);
    std::vector<float> bias(n);
    // Small integers: every sum is exact in float whatever the order.
    for (int i = 0; i < m * k; ++i) {
        ia[i] = (int)random.below(33) - 16;
        a[i] = __float2half((float)ia[i]);
    }
    for (int i = 0; i < n * k; ++i) {
        ib[i] = (int)random.below(33) - 16;
        b[i] = __float2half((float)ib[i]);
    }
    for (float& v : bias)
        v = (float)((int)random.below(400) - 200) * 0.25f;
    half* dA = copyIn(a);
    half* dB = copyIn(b);
    float* dBias = copyIn(bias);
    float* dC = cleared<float>(m * n);
    gemm<<<dim3(columnTiles, rowTiles), 64>>>(dA, dB, dBias, dC, rowTiles, columnTiles, innerTiles);
    TRY(hipGetLastError());
    const std::vector<float> c = copyOut(dC, m * n);
    int wrong = 0, active = 0;
    double sum = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            int dot = 0;
            for (int l = 0; l < k; ++l)
                dot += ia[i * k + l] * ib[j * k + l];
            const float expected = std::max((float)dot * 0.25f + bias[j], 0.0f);
            wrong += c[i * n + j] != expected;
            active += c[i * n + j] > 0.0f;
            sum += (double)c[i * n + j] * (1 + (i * 3 + j) % 11);
        }
    printf("%d x %d x %d: active %d, weighted sum %.2f, digest %08x\n", m, n, k, active, sum, hashOf(c));
    showReal("c", c, 16);
    return conclude(wrong == 0);
}
