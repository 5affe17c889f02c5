// SPDX-License-Identifier: MIT
// Two-layer perceptron trained by full-batch gradient descent on a ring-versus-disc task. Dense
// layers, activation gradients and weight gradients are separate kernels; the hidden activation
// is chosen through a device function pointer.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(c)                                                               \
    do {                                                                            \
        cudaError_t e = (c);                                                        \
        if (e != cudaSuccess) {                                                     \
            fprintf(stderr, "mlp: %s (line %d)\n", cudaGetErrorString(e), __LINE__); \
            exit(2);                                                                \
        }                                                                           \
    } while (0)

constexpr int kInputs = 2, kHidden = 12;

struct Pair {
    float value, slope;
};
typedef Pair (*Activation)(float);

__host__ __device__ inline Pair tanhPair(float z)
{
    const float t = tanhf(z);
    return Pair{t, 1.0f - t * t};
}
__host__ __device__ inline Pair softplusPair(float z)
{
    const float e = expf(-fabsf(z));
    return Pair{fmaxf(z, 0.0f) + logf(1.0f + e), z >= 0.0f ? 1.0f / (1.0f + e) : e / (1.0f + e)};
}
__device__ Pair deviceTanh(float z) { return tanhPair(z); }
__device__ Pair deviceSoftplus(float z) { return softplusPair(z); }
__device__ Activation activations[2] = {deviceTanh, deviceSoftplus};

struct Network {
    float w1[kHidden][kInputs], b1[kHidden], w2[kHidden], b2;
};

__global__ void forward(const Network* net, const float2* x, const float* target, int n, int kind, float* hidden,
                        float* slope, float* error)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const Activation activate = activations[kind];
    float z = net->b2;
    for (int h = 0; h < kHidden; ++h) {
        const Pair a = activate(net->w1[h][0] * x[i].x + net->w1[h][1] * x[i].y + net->b1[h]);
        hidden[h * n + i] = a.value;
        slope[h * n + i] = a.slope;
        z += net->w2[h] * a.value;
    }
    error[i] = 1.0f / (1.0f + expf(-z)) - target[i];  // derivative of the cross-entropy
}

// Block h computes the four gradients of hidden unit h; block kHidden the output bias. The tree
// keeps the summation order fixed.
__global__ void update(Network* net, const float2* x, const float* hidden, const float* slope, const float* error,
                       int n, float rate)
{
    __shared__ float4 partial[128];
    const int t = threadIdx.x, h = blockIdx.x;
    float4 g = make_float4(0.f, 0.f, 0.f, 0.f);
    for (int i = t; i < n; i += 128) {
        if (h == kHidden) {
            g.x += error[i];
            continue;
        }
        const float back = error[i] * net->w2[h] * slope[h * n + i];
        g.x += error[i] * hidden[h * n + i];
        g.y += back * x[i].x;
        g.z += back * x[i].y;
        g.w += back;
    }
    partial[t] = g;
    __syncthreads();
    for (int width = 64; width > 0; width /= 2) {
        if (t < width) {
            const float4 o = partial[t + width];
            partial[t] = make_float4(partial[t].x + o.x, partial[t].y + o.y, partial[t].z + o.z, partial[t].w + o.w);
        }
        __syncthreads();
    }
    if (t == 0) {
        const float step = rate / n;
        if (h == kHidden) {
            net->b2 -= step * partial[0].x;
        } else {
            net->w2[h] -= step * partial[0].x;
            net->w1[h][0] -= step * partial[0].y;
            net->w1[h][1] -= step * partial[0].z;
            net->b1[h] -= step * partial[0].w;
        }
    }
}

static void hostEpoch(Network& net, const std::vector<float2>& x, const std::vector<float>& target, int kind, float rate)
{
    std::vector<double> gradient(4 * kHidden + 1, 0.0);
    for (size_t i = 0; i < x.size(); ++i) {
        Pair a[kHidden];
        float z = net.b2;
        for (int h = 0; h < kHidden; ++h) {
            const float in = net.w1[h][0] * x[i].x + net.w1[h][1] * x[i].y + net.b1[h];
            a[h] = kind ? softplusPair(in) : tanhPair(in);
            z += net.w2[h] * a[h].value;
        }
        const double e = 1.0 / (1.0 + exp(-(double)z)) - target[i];
        gradient[4 * kHidden] += e;
        for (int h = 0; h < kHidden; ++h) {
            const double back = e * net.w2[h] * a[h].slope;
            gradient[4 * h] += e * a[h].value;
            gradient[4 * h + 1] += back * x[i].x;
            gradient[4 * h + 2] += back * x[i].y;
            gradient[4 * h + 3] += back;
        }
    }
    const double step = rate / x.size();
    net.b2 -= (float)(step * gradient[4 * kHidden]);
    for (int h = 0; h < kHidden; ++h) {
        net.w2[h] -= (float)(step * gradient[4 * h]);
        net.w1[h][0] -= (float)(step * gradient[4 * h + 1]);
        net.w1[h][1] -= (float)(step * gradient[4 * h + 2]);
        net.b1[h] -= (float)(step * gradient[4 * h + 3]);
    }
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 512;
    const int epochs = argc > 2 ? atoi(argv[2]) : 12;
    const int kind = argc > 3 ? atoi(argv[3]) : 0;
    unsigned seed = argc > 4 ? (unsigned)atoi(argv[4]) : 60u;
    if (n < 1 || epochs < 1 || kind < 0 || kind > 1)
        return 2;
    const float rate = 0.8f;
    auto uniform = [&seed]() {
        seed = seed * 1664525u + 1013904223u;
        return (float)(seed >> 8) / 8388608.0f - 1.0f;
    };
    Network net, expected, trained;
    for (int h = 0; h < kHidden; ++h) {
        net.w1[h][0] = uniform();
        net.w1[h][1] = uniform();
        net.b1[h] = uniform();
        net.w2[h] = 0.5f * uniform();
    }
    net.b2 = 0.0f;
    expected = net;
    std::vector<float2> x(n);
    std::vector<float> target(n), error(n);
    for (int i = 0; i < n; ++i) {
        x[i].x = 1.5f * uniform();
        x[i].y = 1.5f * uniform();
        target[i] = x[i].x * x[i].x + x[i].y * x[i].y < 1.0f ? 1.0f : 0.0f;
    }
    Network* dNet;
    float2* dx;
    float *dTarget, *hidden, *slope, *dError;
    CUDA_CHECK(cudaMalloc(&dNet, sizeof(Network)));
    CUDA_CHECK(cudaMalloc(&dx, n * sizeof(float2)));
    CUDA_CHECK(cudaMalloc(&dTarget, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&hidden, kHidden * n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&slope, kHidden * n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dError, n * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(dNet, &net, sizeof(Network), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dx, x.data(), n * sizeof(float2), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dTarget, target.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    for (int e = 0; e < epochs; ++e) {
        forward<<<(n + 127) / 128, 128>>>(dNet, dx, dTarget, n, kind, hidden, slope, dError);
        CUDA_CHECK(cudaGetLastError());
        if (e == 0 || e == epochs - 1) {
            CUDA_CHECK(cudaMemcpy(error.data(), dError, n * sizeof(float), cudaMemcpyDeviceToHost));
            double sum = 0.0;
            for (float v : error)
                sum += fabs(v);
            printf("epoch %d: mean absolute error %.4f\n", e + 1, sum / n);
        }
        update<<<kHidden + 1, 128>>>(dNet, dx, hidden, slope, dError, n, rate);
        CUDA_CHECK(cudaGetLastError());
        hostEpoch(expected, x, target, kind, rate);
    }
    CUDA_CHECK(cudaMemcpy(&trained, dNet, sizeof(Network), cudaMemcpyDeviceToHost));
    double worst = fabs(trained.b2 - expected.b2), norm = 0.0;
    for (int h = 0; h < kHidden; ++h) {
        worst = fmax(worst, fabs(trained.w2[h] - expected.w2[h]));
        worst = fmax(worst, fabs(trained.b1[h] - expected.b1[h]));
        worst = fmax(worst, fabs(trained.w1[h][0] - expected.w1[h][0]));
        worst = fmax(worst, fabs(trained.w1[h][1] - expected.w1[h][1]));
        norm += (double)trained.w2[h] * trained.w2[h];
    }
    printf("%s network, output weight norm %.4f, bias %.4f\n", kind ? "softplus" : "tanh", sqrt(norm), trained.b2);
    printf("verify: %s\n", worst < 1e-3 ? "OK" : "MISMATCH");
    CUDA_CHECK(cudaFree(dNet));
    CUDA_CHECK(cudaFree(dx));
    CUDA_CHECK(cudaFree(dTarget));
    CUDA_CHECK(cudaFree(hidden));
    CUDA_CHECK(cudaFree(slope));
    CUDA_CHECK(cudaFree(dError));
    return worst < 1e-3 ? 0 : 1;
}
