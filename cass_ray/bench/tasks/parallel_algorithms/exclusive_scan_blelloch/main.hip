// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

#define PADDED(i) ((i) + ((i) >> 5))
const int kBlock = 128, kSpan = 2 * kBlock;

__global__ void scanBlocks(const unsigned* in, unsigned* out, unsigned* blockSums, int n)
{
    extern __shared__ unsigned s[];
    const int t = threadIdx.x, base = blockIdx.x * kSpan;
    s[PADDED(t)] = base + t < n ? in[base + t] : 0u;
    s[PADDED(t + kBlock)] = base + t + kBlock < n ? in[base + t + kBlock] : 0u;
    int offset = 1;
    for (int d = kBlock; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            const int a = PADDED(offset * (2 * t + 1) - 1), b = PADDED(offset * (2 * t + 2) - 1);
            s[b] += s[a];
        }
        offset <<= 1;
    }
    if (t == 0) {
        blockSums[blockIdx.x] = s[PADDED(kSpan - 1)];
        s[PADDED(kSpan - 1)] = 0u;
    }
    for (int d = 1; d <= kBlock; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            const int a = PADDED(offset * (2 * t + 1) - 1), b = PADDED(offset * (2 * t + 2) - 1);
            const unsigned v = s[a];
            s[a] = s[b];
            s[b] += v;
        }
    }
    __syncthreads();
    if (base + t < n) out[base + t] = s[PADDED(t)];
    if (base + t + kBlock < n) out[base + t + kBlock] = s[PADDED(t + kBlock)];
}

__global__ void addOffsets(unsigned* out, const unsigned* offsets, int n)
{
    const int i = blockIdx.x * kSpan + threadIdx.x;
    const unsigned v = offsets[blockIdx.x];
    if (i < n) out[i] += v;
    if (i + kBlock < n) out[i + kBlock] += v;
}

static unsigned scan(const unsigned* in, unsigned* out, int n, int depth)
{
    const int blocks = (n + kSpan - 1) / kSpan;
    unsigned *sums, *offsets, total = 0;
    CHECK(hipMalloc(&sums, blocks * sizeof(unsigned)));
    CHECK(hipMalloc(&offsets, blocks * sizeof(unsigned)));
    scanBlocks<<<blocks, kBlock, PADDED(kSpan) * sizeof(unsigned)>>>(in, out, sums, n);
    CHECK(hipGetLastError());
    if (blocks > 1) {
        total = scan(sums, offsets, blocks, depth + 1);
        addOffsets<<<blocks, kBlock>>>(out, offsets, n);
        CHECK(hipGetLastError());
    } else {
        CHECK(hipMemcpy(&total, sums, sizeof total, hipMemcpyDeviceToHost));
        printf("levels %d\n", depth + 1);
    }
    CHECK(hipFree(sums));
    CHECK(hipFree(offsets));
    return total;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 70000;
    unsigned s = argc > 2 ? (unsigned)atoi(argv[2]) : 31u;
    if (n < 1) return 1;
    std::vector<unsigned> in(n), out(n);
    for (unsigned& v : in) {
        s = s * 1664525u + 1013904223u;
        v = s >> 16;
    }
    unsigned *di, *dout;
    CHECK(hipMalloc(&di, n * sizeof(unsigned)));
    CHECK(hipMalloc(&dout, n * sizeof(unsigned)));
    CHECK(hipMemcpy(di, in.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
    const unsigned total = scan(di, dout, n, 0);
    CHECK(hipMemcpy(out.data(), dout, n * sizeof(unsigned), hipMemcpyDeviceToHost));
    unsigned sum = 0, fold = 0;
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        wrong += out[i] != sum;
        sum += in[i];
        fold = fold * 31u + out[i];
    }
    wrong += sum != total;
    for (int i = 1; i < n; i *= 4) printf("prefix[%d] = %u\n", i, out[i]);
    printf("total %u fold %08x wrong %d\n", total, fold, wrong);
    CHECK(hipFree(di));
    CHECK(hipFree(dout));
    return wrong ? 1 : 0;
}
