// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CALL(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
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
    HIP_CALL(hipMalloc(&a, n * sizeof(int)));
    HIP_CALL(hipMalloc(&b, n * sizeof(int)));
    HIP_CALL(hipMemcpy(a, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
    HIP_CALL(hipMemset(b, 0, n * sizeof(int)));
    HIP_CALL(hipDeviceSynchronize());

    hipStream_t main_, side;
    hipEvent_t fork, joined;
    HIP_CALL(hipStreamCreate(&main_));
    HIP_CALL(hipStreamCreate(&side));
    HIP_CALL(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
    HIP_CALL(hipEventCreateWithFlags(&joined, hipEventDisableTiming));
    const int block = 64, half = (n / 2 + block) / block, grid = (n + block - 1) / block;
    hipGraph_t graph;
    HIP_CALL(hipStreamBeginCapture(main_, hipStreamCaptureModeGlobal));
    HIP_CALL(hipEventRecord(fork, main_));
    HIP_CALL(hipStreamWaitEvent(side, fork, 0));
    stepEven<<<half, block, 0, main_>>>(a, n);
    stepOdd<<<half, block, 0, side>>>(a, n);
    HIP_CALL(hipEventRecord(joined, side));
    HIP_CALL(hipStreamWaitEvent(main_, joined, 0));
    mix<<<grid, block, 0, main_>>>(a, b, n);
    HIP_CALL(hipMemcpyAsync(a, b, n * sizeof(int), hipMemcpyDeviceToDevice, main_));
    HIP_CALL(hipStreamEndCapture(main_, &graph));
    size_t nodes = 0;
    HIP_CALL(hipGraphGetNodes(graph, nullptr, &nodes));
    hipGraphExec_t executable;
    HIP_CALL(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    for (int r = 0; r < replays; ++r) HIP_CALL(hipGraphLaunch(executable, main_));
    HIP_CALL(hipStreamSynchronize(main_));
    HIP_CALL(hipMemcpy(result.data(), a, n * sizeof(int), hipMemcpyDeviceToHost));

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
    HIP_CALL(hipGraphExecDestroy(executable));
    HIP_CALL(hipGraphDestroy(graph));
    HIP_CALL(hipEventDestroy(fork));
    HIP_CALL(hipEventDestroy(joined));
    HIP_CALL(hipStreamDestroy(main_));
    HIP_CALL(hipStreamDestroy(side));
    HIP_CALL(hipFree(a));
    HIP_CALL(hipFree(b));
    return wrong ? 1 : 0;
}
