// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

namespace cg = cooperative_groups;

__global__ void relax(int* a, int* b, int n, int sweeps, long long* sums)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    __shared__ long long partial[16];
    int *from = a, *to = b;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        long long sum = 0;
        for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) {
            const int left = i > 0 ? from[i - 1] : 1000, right = i + 1 < n ? from[i + 1] : -1000;
            const int v = (left + 2 * from[i] + right) / 4 + (i + sweep) % 3;
            to[i] = v;
            sum += (long long)v * (i % 10 + 1);
        }
        for (int d = (int)tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
        if (tile.thread_rank() == 0) partial[block.thread_rank() / tile.size()] = sum;
        block.sync();
        if (block.thread_rank() == 0) {
            for (unsigned k = 1; k < block.size() / tile.size(); ++k) sum += partial[k];
            atomicAdd((unsigned long long*)&sums[sweep], (unsigned long long)sum);
        }
        grid.sync();
        int* t = from;
        from = to;
        to = t;
    }
}

int main(int argc, char** argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000;
    int sweeps = argc > 2 ? atoi(argv[2]) : 8;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    if (n < 1 || sweeps < 1) return 1;
    int cooperative = 0, processors = 0, perProcessor = 0;
    HIP_CHECK(hipDeviceGetAttribute(&cooperative, hipDeviceAttributeCooperativeLaunch, 0));
    HIP_CHECK(hipDeviceGetAttribute(&processors, hipDeviceAttributeMultiprocessorCount, 0));
    const int block = 128;
    HIP_CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&perProcessor, relax, block, 0));
    int blocks = processors * perProcessor;
    if (blocks > 3) blocks = 3;
    printf("cooperative launch: %s\n", cooperative ? "yes" : "no");
    std::vector<int> v(n), w(n), result(n);
    for (int& x : v) {
        s = s * 1664525u + 1013904223u;
        x = (int)(s >> 12) - 500000;
    }
    int *a, *b;
    long long* sums;
    HIP_CHECK(hipMalloc(&a, n * sizeof(int)));
    HIP_CHECK(hipMalloc(&b, n * sizeof(int)));
    HIP_CHECK(hipMalloc(&sums, sweeps * sizeof(long long)));
    HIP_CHECK(hipMemset(sums, 0, sweeps * sizeof(long long)));
    HIP_CHECK(hipMemcpy(a, v.data(), n * sizeof(int), hipMemcpyHostToDevice));
    void* arguments[] = { &a, &b, &n, &sweeps, &sums };
    HIP_CHECK(hipLaunchCooperativeKernel((void*)relax, dim3(blocks), dim3(block), arguments, 0, 0));
    HIP_CHECK(hipDeviceSynchronize());
    std::vector<long long> got(sweeps);
    HIP_CHECK(hipMemcpy(result.data(), sweeps % 2 ? b : a, n * sizeof(int), hipMemcpyDeviceToHost));
    HIP_CHECK(hipMemcpy(got.data(), sums, sweeps * sizeof(long long), hipMemcpyDeviceToHost));
    int wrong = 0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        long long sum = 0;
        for (int i = 0; i < n; ++i) {
            const int left = i > 0 ? v[i - 1] : 1000, right = i + 1 < n ? v[i + 1] : -1000;
            w[i] = (left + 2 * v[i] + right) / 4 + (i + sweep) % 3;
            sum += (long long)w[i] * (i % 10 + 1);
        }
        v.swap(w);
        wrong += sum != got[sweep];
        printf("sweep %d: %lld\n", sweep, got[sweep]);
    }
    unsigned fold = 0;
    for (int i = 0; i < n; ++i) {
        wrong += v[i] != result[i];
        fold = fold * 31u + (unsigned)result[i];
    }
    printf("fold %08x wrong %d\n", fold, wrong);
    HIP_CHECK(hipFree(a));
    HIP_CHECK(hipFree(b));
    HIP_CHECK(hipFree(sums));
    return wrong ? 1 : 0;
}
