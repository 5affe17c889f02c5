// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CALL(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "CUDA failure %d at line %d: %s\n", (int)e_, __LINE__, cudaGetErrorString(e_)); \
    exit(3); } } while (0)

__global__ void stepEven(int* v, int n)
{
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) v[i] = (v[i] * 5 + 3) % 10007;
}
__global__ void stepOdd(int* v, int n)
{
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1;
    if (i < n) v[i] = (v[i] * 7 + 1) % 10009;
}
__global__ void mix(const int* in, int* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (in[i] + 2 * in[(i + n / 2) % n] + in[n - 1 - i]) % 10007;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 3001;
    const int replays = argc > 2 ? atoi(argv[2]) : 5;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 7u;
    if (n < 2 || replays < 1) return 1;
    std::vector<int> host(n), other(n), result(n);
    for (int& v : host) {
        s = s * 22695477u + 1u;
        v = (int)(s >> 17) % 10007;
    }
    int *a, *b;
    CUDA_CALL(cudaMalloc(&a, n * sizeof(int)));
    CUDA_CALL(cudaMalloc(&b, n * sizeof(int)));
    CUDA_CALL(cudaMemcpy(a, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemset(b, 0, n * sizeof(int)));
    CUDA_CALL(cudaDeviceSynchronize());

    cudaStream_t main_, side;
    cudaEvent_t fork, joined;
    CUDA_CALL(cudaStreamCreate(&main_));
    CUDA_CALL(cudaStreamCreate(&side));
    CUDA_CALL(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CUDA_CALL(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    const int block = 64, half = (n / 2 + block) / block, grid = (n + block - 1) / block;
    cudaGraph_t graph;
    CUDA_CALL(cudaStreamBeginCapture(main_, cudaStreamCaptureModeGlobal));
    CUDA_CALL(cudaEventRecord(fork, main_));
    CUDA_CALL(cudaStreamWaitEvent(side, fork, 0));
    stepEven<<<half, block, 0, main_>>>(a, n);
    stepOdd<<<half, block, 0, side>>>(a, n);
    CUDA_CALL(cudaEventRecord(joined, side));
    CUDA_CALL(cudaStreamWaitEvent(main_, joined, 0));
    mix<<<grid, block, 0, main_>>>(a, b, n);
    CUDA_CALL(cudaMemcpyAsync(a, b, n * sizeof(int), cudaMemcpyDeviceToDevice, main_));
    CUDA_CALL(cudaStreamEndCapture(main_, &graph));
    size_t nodes = 0;
    CUDA_CALL(cudaGraphGetNodes(graph, nullptr, &nodes));
    cudaGraphExec_t executable;
    CUDA_CALL(cudaGraphInstantiate(&executable, graph, 0));
    for (int r = 0; r < replays; ++r) CUDA_CALL(cudaGraphLaunch(executable, main_));
    CUDA_CALL(cudaStreamSynchronize(main_));
    CUDA_CALL(cudaMemcpy(result.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost));

    for (int r = 0; r < replays; ++r) {
        for (int i = 0; i < n; ++i) host[i] = i % 2 ? (host[i] * 7 + 1) % 10009 : (host[i] * 5 + 3) % 10007;
        for (int i = 0; i < n; ++i) other[i] = (host[i] + 2 * host[(i + n / 2) % n] + host[n - 1 - i]) % 10007;
        host.swap(other);
    }
    long long sum = 0;
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        sum += (long long)result[i] * (i % 11 + 1);
        wrong += result[i] != host[i];
    }
    printf("n %d replays %d nodes %d\n", n, replays, (int)nodes);
    for (int i = 0; i < 4 && i < n; ++i) printf("v[%d] = %d\n", i, result[i]);
    printf("sum %lld\nwrong %d\n", sum, wrong);
    CUDA_CALL(cudaGraphExecDestroy(executable));
    CUDA_CALL(cudaGraphDestroy(graph));
    CUDA_CALL(cudaEventDestroy(fork));
    CUDA_CALL(cudaEventDestroy(joined));
    CUDA_CALL(cudaStreamDestroy(main_));
    CUDA_CALL(cudaStreamDestroy(side));
    CUDA_CALL(cudaFree(a));
    CUDA_CALL(cudaFree(b));
    return wrong ? 1 : 0;
}
