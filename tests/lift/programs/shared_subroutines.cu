// Lanes part in subroutines and loops, then meet: at barriers, and in a shuffle.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int threads = 96;

__device__ __noinline__ int halvings(int n) {
    int count = 0;
    while (n > 0) {
        n = (n & 1) ? n - 3 : n / 2;
        ++count;
    }
    return count;
}

__device__ __noinline__ int depth(int n, const int* steps) {
    return n <= 0 ? 0 : 1 + depth(n - steps[n & 3], steps);
}

__device__ __noinline__ void leave_from(int thread, int first) {
    if (thread >= first) asm volatile("exit;");
}

__device__ __noinline__ int read_all(const int* values) {
    __syncthreads();
    int total = 0;
    for (int k = 0; k < threads; ++k) total += values[k] * (k + 1);
    __syncthreads();
    return total;
}

// A barrier and a shuffle after loops that lanes leave one after the other.
__global__ void meet(const int* steps, int* out) {
    __shared__ int all[threads];
    const int t = threadIdx.x;
    int sum = 0;
    for (int round = 0; round < 1 + t % 5; ++round) {
        for (int turn = 0; turn < t % 3; ++turn) {
            if (steps[1] == round) break;
            sum += halvings(t + turn);
        }
        sum += halvings(t * 7 + round) + depth((t * 7 + round) % 23, steps);
    }
    all[t] = sum + halvings(t);
    __syncthreads();
    int total = 0;
    for (int k = 0; k < threads; ++k) total += all[k] * (k + 1);
    const int other = __shfl_xor_sync(0xffffffff, sum + depth(t % 11, steps), 5);
    out[t] = total + other;
}

// Barriers in a subroutine; some threads have ended in another.
__global__ void gather(const int* steps, int* out) {
    __shared__ int values[threads];
    const int t = threadIdx.x;
    values[t] = 1;
    __syncthreads();
    leave_from(t, 80);
    values[t] = halvings(5 * t) + steps[t & 3];
    const int first = read_all(values);
    values[t] = first % (halvings(t) + 2);
    out[t] = read_all(values);
}

int main() {
    const int steps[4] = {1, 2, 1, 3};
    int *given, *out, host[threads];
    cudaMalloc(&given, sizeof steps);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(given, steps, sizeof steps, cudaMemcpyHostToDevice);
    meet<<<1, threads>>>(given, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int k = 0; k < threads; ++k) printf("%d\n", host[k]);
    cudaMemset(out, 0, sizeof host);
    gather<<<1, threads>>>(given, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int k = 0; k < threads; ++k) printf("%d\n", host[k]);
    return cudaGetLastError() != cudaSuccess;
}
