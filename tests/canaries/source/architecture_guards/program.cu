// Guards of architectures as libraries have them: each has a poorer way, which prints other numbers.
#include <cstdio>
#include <cuda_bf16.h>
#define AT_LEAST(n) (__CUDA_ARCH__ >= n)

__device__ int summed(int value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, value);
#else
    return -1;
#endif
}

__device__ void copy(int* to, const int* from) {
#if AT_LEAST(800)
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
#else
    for (int i = 0; i < 4; ++i) to[i] = -1;
#endif
}

__device__ float bfloats(float a, float b) {
#if __CUDA_ARCH__ < 800
    return -1.f;
#else
    return __bfloat162float(__hfma(__float2bfloat16(a), __float2bfloat16(b), __float2bfloat16(1.f)));
#endif
}

__device__ int generation() {
#if AT_LEAST(860) && !AT_LEAST(1000)
    return 2;
#elif AT_LEAST(700)
    return 1;
#else
    return 0;
#endif
}

__host__ __device__ int side() {
#if AT_LEAST(100)
    return 1;
#else
    return 0;
#endif
}

__global__ void go(const int* in, int* out, __nv_bfloat16* sum) {
    __shared__ int four[32 * 4];
    copy(four + threadIdx.x * 4, in + threadIdx.x * 4);
    __syncthreads();
    int total = summed(four[threadIdx.x * 4 + 3]);
#if __CUDA_ARCH__ >= 800
    atomicAdd(sum, __float2bfloat16(0.5f));
#endif
    if (threadIdx.x == 5) {
        out[0] = total;
        out[1] = static_cast<int>(bfloats(3.f, 4.f));
        out[2] = generation();
        out[3] = side();
    }
}

int main() {
    int h[128], *in, *out;
    __nv_bfloat16* sum;
    for (int i = 0; i < 128; ++i) h[i] = i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, 16);
    cudaMalloc(&sum, 2);
    cudaMemset(sum, 0, 2);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    go<<<1, 32>>>(in, out, sum);
    cudaMemcpy(h, out, 16, cudaMemcpyDeviceToHost);
    __nv_bfloat16 half;
    cudaMemcpy(&half, sum, 2, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %g | %d\n", h[0], h[1], h[2], h[3], __bfloat162float(half), side());
}
