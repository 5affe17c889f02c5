// Five functions that call each other through a table; lanes of a warp choose different ones.
// Some end the thread. With an argument an address is called at which no function begins.

#include <cstdio>

constexpr int threads = 64;

using Step = int (*)(int number, int sum);

__device__ Step steps[5];

__device__ __forceinline__ int next(int number, int sum) {
    return number <= 0 ? sum : steps[number % 5](number, sum);
}

__device__ __noinline__ int halve(int number, int sum) { return next(number / 2, sum + 1) * 3; }

__device__ __noinline__ int less_two(int number, int sum) {
    const int first = next(number - 2, sum ^ number);
    return first - number;
}

__device__ __noinline__ int both(int number, int sum) {
    const int first = next(number - 3, sum + 7);
    return first + next(number - 4, first & 15);
}

__device__ __noinline__ int less_one(int number, int sum) { return next(number - 1, 2 * sum) + 5; }

__device__ __noinline__ int last(int number, int sum) {
    if (sum > 40) asm volatile("exit;");
    return next(number - 5, sum + number) ^ sum;
}

__global__ void fill(int added) {
    steps[0] = halve;
    steps[1] = less_two;
    steps[2] = both;
    steps[3] = less_one;
    steps[4] = last;
    const auto wrong = reinterpret_cast<unsigned long long>(steps[1]) + added;
    steps[1] = reinterpret_cast<Step>(wrong);
}

// Threads that are left meet again behind the calls, at a barrier.
__global__ void choose(int* out) {
    __shared__ int all[threads];
    const int t = threadIdx.x;
    all[t] = 0;
    out[t] = -1;
    __syncthreads();
    all[t] = steps[t % 5](t % 23, t);
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < threads; ++k) sum += all[k] * (k + 1);
    out[t] = sum + all[t];
}

int main(int count, char**) {
    int *out, host[threads];
    cudaMalloc(&out, sizeof host);
    fill<<<1, 1>>>(count > 1 ? 16 : 0);
    choose<<<1, threads>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int k = 0; k < threads; ++k) printf("%d\n", host[k]);
    return cudaDeviceSynchronize() != cudaSuccess;
}
