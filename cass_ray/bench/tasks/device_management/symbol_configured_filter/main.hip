// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(call)                                                                  \
    do {                                                                             \
        hipError_t status = (call);                                                 \
        if (status != hipSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d: HIP error: %s\n", __FILE__, __LINE__,      \
                         hipGetErrorString(status));                                \
            std::exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

struct Settings {
    int shift;
    uint32_t mask;
    int64_t bias;
};
__constant__ Settings settings;
__constant__ int weights[9] = { 1, 2, 3, 4, 5, 4, 3, 2, 1 };
__device__ int64_t totals[4];
__device__ unsigned launches = 100;
static __device__ uint32_t lookup[256];

__global__ void filter(const int* in, int64_t* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) launches += 1;
    if (i >= n) return;
    int64_t sum = settings.bias;
    for (int k = 0; k < 9; ++k) {
        int j = i + k - 4;
        j = j < 0 ? 0 : j >= n ? n - 1 : j;
        sum += (int64_t)weights[k] * in[j];
    }
    sum = (sum >> settings.shift) ^ (int64_t)(lookup[i & 255] & settings.mask);
    out[i] = sum;
    atomicAdd((unsigned long long*)&totals[i & 3], (unsigned long long)sum);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 2500;
    uint32_t s = argc > 2 ? (uint32_t)atoi(argv[2]) : 8u;
    if (n < 1) return 1;
    std::vector<int> in(n);
    uint32_t table[256];
    for (int& v : in) { s = s * 1664525u + 1013904223u; v = (int)(s >> 12) - 500000; }
    for (uint32_t& v : table) { s = s * 1664525u + 1013904223u; v = s; }
    int *di;
    int64_t* dout;
    HIP_CHECK(hipMalloc(&di, n * sizeof(int)));
    HIP_CHECK(hipMalloc(&dout, n * sizeof(int64_t)));
    HIP_CHECK(hipMemcpy(di, in.data(), n * sizeof(int), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(lookup), table, sizeof table));
    size_t bytes = 0;
    HIP_CHECK(hipGetSymbolSize(&bytes, HIP_SYMBOL(lookup)));
    printf("lookup holds %d bytes\n", (int)bytes);
    int w[9] = { 1, 2, 3, 4, 5, 4, 3, 2, 1 };
    bool ok = bytes == sizeof table;
    std::vector<int64_t> out(n);
    for (int round = 0; round < 3; ++round) {
        Settings host = { round + 1, 0xffffu << (4 * round), -1000000ll * round };
        HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(settings), &host, sizeof host));
        const int changed[2] = { 7 - round, -round };
        w[3 * round] = changed[0];
        w[3 * round + 1] = changed[1];
        HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(weights), changed, sizeof changed, 3 * round * sizeof(int)));
        int64_t* address = nullptr;
        HIP_CHECK(hipGetSymbolAddress((void**)&address, HIP_SYMBOL(totals)));
        HIP_CHECK(hipMemset(address, 0, 4 * sizeof(int64_t)));
        filter<<<(n + 63) / 64, 64>>>(di, dout, n);
        HIP_CHECK(hipGetLastError());
        int64_t sums[4], last = 0;
        HIP_CHECK(hipMemcpyFromSymbol(sums, HIP_SYMBOL(totals), sizeof sums));
        HIP_CHECK(hipMemcpyFromSymbol(&last, HIP_SYMBOL(totals), sizeof last, 3 * sizeof(int64_t)));
        HIP_CHECK(hipMemcpy(out.data(), dout, n * sizeof(int64_t), hipMemcpyDeviceToHost));
        int64_t expected[4] = {0, 0, 0, 0};
        for (int i = 0; i < n; ++i) {
            int64_t v = host.bias;
            for (int k = 0; k < 9; ++k) {
                const int j = i + k - 4;
                v += (int64_t)w[k] * in[j < 0 ? 0 : j >= n ? n - 1 : j];
            }
            v = (v >> host.shift) ^ (int64_t)(table[i & 255] & host.mask);
            ok = ok && v == out[i];
            expected[i & 3] += v;
        }
        for (int k = 0; k < 4; ++k) ok = ok && expected[k] == sums[k];
        ok = ok && last == sums[3];
        printf("round %d: %lld %lld %lld %lld\n", round, (long long)sums[0], (long long)sums[1], (long long)sums[2], (long long)sums[3]);
    }
    unsigned count = 0;
    HIP_CHECK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(launches), sizeof count));
    printf("launches %u\n", count);
    ok = ok && count == 103;
    printf("%s\n", ok ? "ok" : "FAILED");
    HIP_CHECK(hipFree(di));
    HIP_CHECK(hipFree(dout));
    return ok ? 0 : 1;
}
