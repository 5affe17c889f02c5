// SPDX-License-Identifier: MIT
// Batched radix-2 FFT: one block transforms one signal in shared memory (bit reversal, then
// butterflies with a twiddle table in constant memory), forward and inverse.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define FFT_CHECK(call)                                                       \
    do {                                                                      \
        cudaError_t e = (call);                                               \
        if (e != cudaSuccess) {                                               \
            fprintf(stderr, "fft: %s in %s\n", cudaGetErrorName(e), #call);   \
            exit(2);                                                          \
        }                                                                     \
    } while (0)

constexpr int kLog = 8;
constexpr int kSize = 1 << kLog;

__constant__ float2 twiddle[kSize / 2];

__device__ __forceinline__ float2 times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

template <bool kInverse>
__global__ __launch_bounds__(kSize / 2) void transform(float2* data)
{
    __shared__ float2 s[kSize];
    float2* signal = data + (size_t)blockIdx.x * kSize;
    for (int i = threadIdx.x; i < kSize; i += kSize / 2)
        s[__brev((unsigned)i) >> (32 - kLog)] = signal[i];
    for (int half = 1; half < kSize; half *= 2) {
        __syncthreads();
        const int k = threadIdx.x & (half - 1);
        const int low = 2 * (threadIdx.x - k) + k, high = low + half;
        float2 w = twiddle[k * (kSize / 2 / half)];
        if (kInverse)
            w.y = -w.y;
        const float2 a = s[low], b = times(s[high], w);
        s[low] = make_float2(a.x + b.x, a.y + b.y);
        s[high] = make_float2(a.x - b.x, a.y - b.y);
    }
    __syncthreads();
    const float scale = kInverse ? 1.0f / kSize : 1.0f;
    for (int i = threadIdx.x; i < kSize; i += kSize / 2)
        signal[i] = make_float2(s[i].x * scale, s[i].y * scale);
}

int main(int argc, char** argv)
{
    const int batch = argc > 1 ? atoi(argv[1]) : 20;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 7u;
    if (batch < 1)
        return 2;
    const double pi = 3.14159265358979323846;
    std::vector<float2> table(kSize / 2), signal((size_t)batch * kSize), spectrum(signal.size()), back(signal.size());
    for (int k = 0; k < kSize / 2; ++k)
        table[k] = make_float2((float)cos(2 * pi * k / kSize), (float)-sin(2 * pi * k / kSize));
    for (int b = 0; b < batch; ++b)
        for (int i = 0; i < kSize; ++i) {
            seed = seed * 1664525u + 1013904223u;
            const float noise = (float)(seed >> 16) / 65536.0f - 0.5f;
            const double tone = cos(2 * pi * (3 + b) * i / kSize);  // a peak in bin 3 + b
            signal[(size_t)b * kSize + i] = make_float2((float)tone + 0.2f * noise, 0.1f * noise);
        }
    float2* data;
    const size_t bytes = signal.size() * sizeof(float2);
    FFT_CHECK(cudaMemcpyToSymbol(twiddle, table.data(), sizeof(float2) * kSize / 2));
    FFT_CHECK(cudaMalloc(&data, bytes));
    FFT_CHECK(cudaMemcpy(data, signal.data(), bytes, cudaMemcpyHostToDevice));
    transform<false><<<batch, kSize / 2>>>(data);
    FFT_CHECK(cudaGetLastError());
    FFT_CHECK(cudaMemcpy(spectrum.data(), data, bytes, cudaMemcpyDeviceToHost));
    transform<true><<<batch, kSize / 2>>>(data);
    FFT_CHECK(cudaGetLastError());
    FFT_CHECK(cudaMemcpy(back.data(), data, bytes, cudaMemcpyDeviceToHost));
    FFT_CHECK(cudaFree(data));

    double worstBack = 0.0, worstBin = 0.0, energy = 0.0, spectrumEnergy = 0.0;
    for (size_t i = 0; i < signal.size(); ++i) {
        worstBack = fmax(worstBack, fmax(fabs(back[i].x - signal[i].x), fabs(back[i].y - signal[i].y)));
        energy += (double)signal[i].x * signal[i].x + (double)signal[i].y * signal[i].y;
        spectrumEnergy += ((double)spectrum[i].x * spectrum[i].x + (double)spectrum[i].y * spectrum[i].y) / kSize;
    }
    for (int b = 0; b < batch; b += 5)
        for (int k = 0; k < kSize; k += 17) {  // direct transform of some bins
            double re = 0.0, im = 0.0;
            for (int i = 0; i < kSize; ++i) {
                const double angle = -2 * pi * ((long long)i * k % kSize) / kSize;
                const float2 v = signal[(size_t)b * kSize + i];
                re += v.x * cos(angle) - v.y * sin(angle);
                im += v.x * sin(angle) + v.y * cos(angle);
            }
            const float2 g = spectrum[(size_t)b * kSize + k];
            worstBin = fmax(worstBin, fmax(fabs(g.x - re), fabs(g.y - im)));
        }
    int peak = 0;
    for (int k = 1; k < kSize / 2; ++k)
        if (hypot(spectrum[k].x, spectrum[k].y) > hypot(spectrum[peak].x, spectrum[peak].y))
            peak = k;
    const bool ok = worstBack < 1e-4 && worstBin < 1e-2 && fabs(energy - spectrumEnergy) < 1e-4 * energy;
    printf("%d signals of %d points\n", batch, kSize);
    printf("energy %.3f, peak of signal 0 in bin %d with magnitude %.2f\n", energy, peak, hypot(spectrum[peak].x, spectrum[peak].y));
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
