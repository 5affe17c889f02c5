// cuRAND's own sequences, from every seed, subsequence and offset, as bits and as each distribution's numbers.
#include <cstdio>
#include <curand_kernel.h>

template <typename State> __device__ void draw(unsigned* bits, double* numbers, unsigned long long seed, int t) {
    State s;
    curand_init(seed, t, 1000003ull * t, &s);
    bits[0] = curand(&s);
    bits[1] = curand(&s);
    numbers[0] = curand_uniform(&s);
    numbers[1] = curand_uniform_double(&s);
    numbers[2] = curand_normal(&s);
    numbers[3] = curand_normal(&s);
    float2 pair = curand_normal2(&s);
    numbers[4] = pair.x + 10 * pair.y;
    numbers[5] = curand_log_normal(&s, 0.5f, 0.25f);
    numbers[6] = curand_normal(&s);
    numbers[7] = curand_normal_double(&s) + 10 * curand_normal_double(&s);
    double2 wide = curand_normal2_double(&s);
    numbers[8] = wide.x * wide.y;
    numbers[9] = curand_log_normal_double(&s, 0.1, 0.2);
    bits[2] = curand(&s);
    State other = s;
    skipahead(12345, &other);
    bits[3] = curand(&other);
    skipahead_sequence(3, &other);
    bits[4] = curand(&other);
}

__global__ void go(unsigned* bits, double* numbers, unsigned long long seed) {
    int t = threadIdx.x;
    draw<curandStateXORWOW_t>(bits + t * 15, numbers + t * 40, seed, t);
    draw<curandStateMRG32k3a_t>(bits + t * 15 + 5, numbers + t * 40 + 10, seed, t);
    draw<curandStatePhilox4_32_10_t>(bits + t * 15 + 10, numbers + t * 40 + 20, seed, t);
    curandStatePhilox4_32_10_t s;
    curand_init(seed, t, 2, &s);
    float4 four = curand_uniform4(&s);
    double2 two = curand_uniform2_double(&s);
    float4 normal = curand_normal4(&s);
    uint4 whole = curand4(&s);
    double* more = numbers + t * 40 + 30;
    more[0] = four.x + four.y * 2 + four.z * 4 + four.w * 8;
    more[1] = two.x + two.y * 2;
    more[2] = normal.x + normal.w;
    more[3] = whole.x % 1000 + whole.w % 1000 * 1000.0;
    for (int i = 4; i < 10; ++i) more[i] = 0;
}

int main() {
    const int threads = 3;
    unsigned bits[threads * 15], *b;
    double numbers[threads * 40], *n;
    cudaMalloc(&b, sizeof bits);
    cudaMalloc(&n, sizeof numbers);
    for (unsigned long long seed : {0ull, 1ull, 42ull, 0xdeadbeefcafef00dull}) {
        go<<<1, threads>>>(b, n, seed);
        cudaMemcpy(bits, b, sizeof bits, cudaMemcpyDeviceToHost);
        cudaMemcpy(numbers, n, sizeof numbers, cudaMemcpyDeviceToHost);
        for (int t = 0; t < threads; ++t) {
            for (int i = 0; i < 15; ++i) printf("%u ", bits[t * 15 + i]);
            printf("|");
            for (int i = 0; i < 34; ++i) printf(" %.2f", numbers[t * 40 + i]);
            printf("\n");
        }
    }
}
