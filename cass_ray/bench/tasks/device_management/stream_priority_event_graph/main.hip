// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkHip(hipError_t code, const char* what, int line) {
    if (code != hipSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(code));
        exit(2);
    }
}
#define checkHipErrors(expr) checkHip((expr), #expr, __LINE__)

__global__ void produce(unsigned* data, int n, unsigned round)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = data[i] * 2654435761u + round;
}
__global__ void branchLeft(const unsigned* data, unsigned* left, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) left[i] = data[i] ^ data[(i + 1) % n];
}
__global__ void branchRight(const unsigned* data, unsigned* right, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) right[i] = (data[i] >> 3) + data[(i + n - 1) % n];
}
__global__ void join(const unsigned* left, const unsigned* right, unsigned* data, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = left[i] + 3u * right[n - 1 - i];
}

struct Ticket {
    const unsigned* pinned;
    int n;
    unsigned fold;
    int calls;
};
static void fold(void* argument)
{
    Ticket* t = (Ticket*)argument;
    unsigned f = 0;
    for (int i = 0; i < t->n; ++i) f = f * 31u + t->pinned[i];
    t->fold = f;
    t->calls++;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 4000;
    const int rounds = argc > 2 ? atoi(argv[2]) : 6;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 99u;
    if (n < 1 || rounds < 1) return 1;
    int least = 0, greatest = 0;
    checkHipErrors(hipDeviceGetStreamPriorityRange(&least, &greatest));
    printf("priorities ordered: %s\n", greatest <= least ? "yes" : "no");
    hipStream_t trunk, left, right;
    checkHipErrors(hipStreamCreateWithFlags(&trunk, hipStreamNonBlocking));
    checkHipErrors(hipStreamCreateWithPriority(&left, hipStreamNonBlocking, least));
    checkHipErrors(hipStreamCreateWithPriority(&right, hipStreamNonBlocking, greatest));
    hipEvent_t produced, leftDone, rightDone;
    checkHipErrors(hipEventCreateWithFlags(&produced, hipEventDisableTiming));
    checkHipErrors(hipEventCreateWithFlags(&leftDone, hipEventDisableTiming));
    checkHipErrors(hipEventCreateWithFlags(&rightDone, hipEventDisableTiming));

    const size_t bytes = n * sizeof(unsigned);
    unsigned *pinned, *data, *dl, *dr;
    checkHipErrors(hipHostMalloc((void**)&pinned, bytes));
    checkHipErrors(hipMalloc(&data, bytes));
    checkHipErrors(hipMalloc(&dl, bytes));
    checkHipErrors(hipMalloc(&dr, bytes));
    std::vector<unsigned> model(n), a(n), b(n);
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        pinned[i] = model[i] = s;
    }
    const int block = 128, grid = (n + block - 1) / block;
    checkHipErrors(hipMemcpyAsync(data, pinned, bytes, hipMemcpyHostToDevice, trunk));
    for (int r = 0; r < rounds; ++r) {
        produce<<<grid, block, 0, trunk>>>(data, n, (unsigned)r);
        checkHipErrors(hipEventRecord(produced, trunk));
        checkHipErrors(hipStreamWaitEvent(left, produced, 0));
        checkHipErrors(hipStreamWaitEvent(right, produced, 0));
        branchLeft<<<grid, block, 0, left>>>(data, dl, n);
        branchRight<<<grid, block, 0, right>>>(data, dr, n);
        checkHipErrors(hipEventRecord(leftDone, left));
        checkHipErrors(hipEventRecord(rightDone, right));
        checkHipErrors(hipStreamWaitEvent(trunk, leftDone, 0));
        checkHipErrors(hipStreamWaitEvent(trunk, rightDone, 0));
        join<<<grid, block, 0, trunk>>>(dl, dr, data, n);
        checkHipErrors(hipGetLastError());
    }
    checkHipErrors(hipMemcpyAsync(pinned, data, bytes, hipMemcpyDeviceToHost, trunk));
    Ticket ticket = { pinned, n, 0u, 0 };
    checkHipErrors(hipLaunchHostFunc(trunk, fold, &ticket));
    checkHipErrors(hipStreamSynchronize(trunk));
    printf("trunk idle: %s\n", hipStreamQuery(trunk) == hipSuccess ? "yes" : "no");
    printf("branches idle: %s\n", hipEventQuery(leftDone) == hipSuccess && hipEventQuery(rightDone) == hipSuccess ? "yes" : "no");

    for (int r = 0; r < rounds; ++r) {
        for (int i = 0; i < n; ++i) model[i] = model[i] * 2654435761u + (unsigned)r;
        for (int i = 0; i < n; ++i) {
            a[i] = model[i] ^ model[(i + 1) % n];
            b[i] = (model[i] >> 3) + model[(i + n - 1) % n];
        }
        for (int i = 0; i < n; ++i) model[i] = a[i] + 3u * b[n - 1 - i];
    }
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += model[i] != pinned[i];
    printf("n %d rounds %d\nfold %08x calls %d\nfirst %u last %u\nwrong %d\n", n, rounds, ticket.fold, ticket.calls,
           pinned[0], pinned[n - 1], wrong);
    checkHipErrors(hipEventDestroy(produced));
    checkHipErrors(hipEventDestroy(leftDone));
    checkHipErrors(hipEventDestroy(rightDone));
    checkHipErrors(hipStreamDestroy(trunk));
    checkHipErrors(hipStreamDestroy(left));
    checkHipErrors(hipStreamDestroy(right));
    checkHipErrors(hipHostFree(pinned));
    hipFree(data); hipFree(dl); hipFree(dr);
    return wrong ? 1 : 0;
}
