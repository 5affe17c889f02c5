// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Linear layer on signed bytes with dot products of four in PTX, per-channel requantisation
// and a saturating cast.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(expression)                                                        \
    if (cudaError_t failure = (expression); failure != cudaSuccess) {            \
        fprintf(stderr, "error %d (%s) in line %d\n", (int)failure,              \
                cudaGetErrorName(failure), __LINE__);                            \
        exit(2);                                                                 \
    }

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

// FNV-1a over the bytes of all values.
template <typename T>
static unsigned fnv1a(const std::vector<T>& values)
{
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(values.data());
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < values.size() * sizeof(T); ++i)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

template <typename T>
static void show(const char* label, const std::vector<T>& values, size_t count = 8)
{
    printf("%s:", label);
    const size_t step = values.size() > count ? values.size() / count : 1;
    for (size_t i = 0; i < values.size(); i += step)
        printf(" %lld", (long long)values[i]);
    printf("\n");
}

static int finish(bool right)
{
    CUDA_CHECK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

#define TILE 16

__device__ __forceinline__ int dot4(int a, int b, int c)
{
    int r;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

// round(x * multiplier / 2^31), then a shift with rounding, then to a signed byte
__device__ __forceinline__ int requantize(int x, int multiplier, int shift)
{
    int high;
    asm("{\n\t"
        ".reg .s64 product;\n\t"
        "mul.wide.s32 product, %1, %2;\n\t"
        "add.s64 product, product, 1073741824;\n\t"
        "shr.s64 product, product, 31;\n\t"
        "cvt.u32.u64 %0, product;\n\t"
        "}"
        : "=r"(high)
        : "r"(x), "r"(multiplier));
    const int rounded = (high + (1 << (shift - 1))) >> shift;
    int byte;
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(byte) : "r"(rounded));
    return byte;
}

__global__ void linear(const int* input, const int* weights, const int* bias, const int2* scale,
                       signed char* output, int batch, int outputs, int words)
{
    __shared__ int inTile[TILE][TILE + 1], weightTile[TILE][TILE + 1];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    const int weightRow = blockIdx.x * TILE + threadIdx.y;
    int sum = column < outputs ? bias[column] : 0;
    for (int start = 0; start < words; start += TILE) {
        const int w = start + threadIdx.x;
        inTile[threadIdx.y][threadIdx.x] = row < batch && w < words ? input[row * words + w] : 0;
        weightTile[threadIdx.y][threadIdx.x] =
            weightRow < outputs && w < words ? weights[weightRow * words + w] : 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            sum = dot4(inTile[threadIdx.y][k], weightTile[threadIdx.x][k], sum);
        __syncthreads();
    }
    if (row < batch && column < outputs) {
        const int2 s = scale[column];
        output[row * outputs + column] = (signed char)requantize(sum, s.x, s.y);
    }
}

int main(int argc, char** argv)
{
    const int batch = int_arg(argc, argv, 1, 19);
    const int outputs = int_arg(argc, argv, 2, 45);
    const int inputs = int_arg(argc, argv, 3, 96);
    Random random((unsigned)int_arg(argc, argv, 4, 1));
    if (batch < 1 || outputs < 1 || inputs < 1)
        return 2;
    const int words = (inputs + 3) / 4;
    std::vector<signed char> input(batch * words * 4, 0), weights(outputs * words * 4, 0);
    for (int i = 0; i < batch * words * 4; ++i)
        if (i % (4 * words) < inputs)
            input[i] = (signed char)((int)random.below(256) - 128);
    for (int i = 0; i < outputs * words * 4; ++i)
        if (i % (4 * words) < inputs)
            weights[i] = (signed char)((int)random.below(256) - 128);
    std::vector<int> bias(outputs);
    std::vector<int2> scale(outputs);
    for (int o = 0; o < outputs; ++o) {
        bias[o] = (int)random.below(20000) - 10000;
        scale[o].x = 1073741824 + (int)random.below(1000000000);
        scale[o].y = 9 + (int)random.below(3);
    }
    signed char* dInput = to_device(input);
    signed char* dWeights = to_device(weights);
    int* dBias = to_device(bias);
    int2* dScale = to_device(scale);
    signed char* dOutput = device_zeros<signed char>(batch * outputs);
    const dim3 block(TILE, TILE), grid((outputs + TILE - 1) / TILE, (batch + TILE - 1) / TILE);
    linear<<<grid, block>>>((const int*)dInput, (const int*)dWeights, dBias, dScale, dOutput, batch,
                            outputs, words);
    CUDA_CHECK(cudaGetLastError());
    const std::vector<signed char> output = to_host(dOutput, batch * outputs);
    int wrong = 0, saturated = 0;
    long long sum = 0;
    for (int b = 0; b < batch; ++b)
        for (int o = 0; o < outputs; ++o) {
            long long x = bias[o];
            for (int i = 0; i < 4 * words; ++i)
                x += (int)input[b * 4 * words + i] * weights[o * 4 * words + i];
            x = (x * scale[o].x + (1ll << 30)) >> 31;
            x = (x + (1ll << (scale[o].y - 1))) >> scale[o].y;
            x = x < -128 ? -128 : x > 127 ? 127 : x;
            wrong += x != output[b * outputs + o];
            saturated += x == -128 || x == 127;
            sum += x * (1 + o % 7);
        }
    printf("%d x %d from %d inputs: sum %lld, saturated %d, digest %08x\n", batch, outputs, inputs, sum,
           saturated, fnv1a(output));
    show("outputs", output, 24);
    return finish(wrong == 0);
}
