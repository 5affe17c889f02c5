// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Power of a bank of frequencies over overlapping frames by Goertzel's recurrence in double
// precision.
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRY(call)                                                                  \
    do {                                                                             \
        const cudaError_t status_ = (call);                                          \
        if (status_ != cudaSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
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
static T* copyIn(const std::vector<T>& values)
{
    T* memory = nullptr;
    TRY(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    TRY(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* cleared(size_t count)
{
    T* memory = nullptr;
    TRY(cudaMalloc(&memory, count * sizeof(T)));
    TRY(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> copyOut(const T* memory, size_t count)
{
    std::vector<T> values(count);
    TRY(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
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

static int conclude(bool right)
{
    TRY(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

__global__ void goertzel(const double* __restrict__ signal, int samples, int frame, int hop, int frames,
                         const double* __restrict__ cosines, int frequencies, double* power)
{
    const int f = blockIdx.x * blockDim.x + threadIdx.x;
    const int k = blockIdx.y * blockDim.y + threadIdx.y;
    if (f >= frames || k >= frequencies)
        return;
    const double c = 2.0 * cosines[k];
    double s1 = 0.0, s2 = 0.0;
    for (int i = 0; i < frame; ++i) {
        const int at = f * hop + i;
        const double s = (at < samples ? signal[at] : 0.0) + c * s1 - s2;
        s2 = s1;
        s1 = s;
    }
    power[k * frames + f] = (s1 * s1 + s2 * s2 - c * s1 * s2) / frame;
}

int main(int argc, char** argv)
{
    const int samples = argument(argc, argv, 1, 2000);
    const int frequencies = argument(argc, argv, 2, 16);
    Random random((unsigned)argument(argc, argv, 3, 1));
    const int frame = 120, hop = 50;
    if (samples < frame || frequencies < 1)
        return 2;
    const int frames = (samples - 1) / hop + 1;
    const double pi = 3.14159265358979323846;
    std::vector<double> signal(samples), cosines(frequencies);
    for (int k = 0; k < frequencies; ++k)
        cosines[k] = cos(2.0 * pi * (k + 2) / frame);
    const unsigned first = random.below(frequencies), second = random.below(frequencies);
    for (int i = 0; i < samples; ++i)
        signal[i] = sin(2.0 * pi * (first + 2) / frame * i) + 0.5 * cos(2.0 * pi * (second + 2) / frame * i) +
                    (random.below(2000) / 1000.0 - 1.0) * 0.2;
    double* dSignal = copyIn(signal);
    double* dCosines = copyIn(cosines);
    double* dPower = cleared<double>(frequencies * frames);
    const dim3 block(16, 4), grid((frames + 15) / 16, (frequencies + 3) / 4);
    goertzel<<<grid, block>>>(dSignal, samples, frame, hop, frames, dCosines, frequencies, dPower);
    TRY(cudaGetLastError());
    const std::vector<double> power = copyOut(dPower, frequencies * frames);
    double worst = 0;
    for (int k = 0; k < frequencies; k += 3) {
        double re = 0, im = 0;
        for (int i = 0; i < frame; ++i) {
            re += signal[i] * cos(2.0 * pi * (k + 2) / frame * i);
            im += signal[i] * sin(2.0 * pi * (k + 2) / frame * i);
        }
        worst = std::max(worst, fabs((re * re + im * im) / frame - power[k * frames]));
    }
    int loudest = 0;
    for (int k = 0; k < frequencies; ++k) {
        double total = 0, strongest = 0;
        for (int f = 0; f < frames; ++f) {
            total += power[k * frames + f] * (1 + f % 3);
            strongest = std::max(strongest, power[k * frames + f]);
        }
        if (power[k * frames] > power[loudest * frames])
            loudest = k;
        printf("frequency %2d: total %.5f strongest %.5f\n", k, total, strongest);
    }
    printf("loudest in the first frame: %d\n", loudest);
    showReal("power", power, 10);
    return conclude(worst < 1e-9);
}
