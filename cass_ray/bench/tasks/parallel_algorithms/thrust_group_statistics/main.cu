// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform_reduce.h>
#include <thrust/functional.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "CUDA failure %d at line %d: %s\n", (int)e_, __LINE__, cudaGetErrorString(e_)); \
    exit(3); } } while (0)

struct SquareMod {
    __host__ __device__ unsigned operator()(unsigned v) const { return (v & 0xffffu) * (v & 0xffffu) % 9973u; }
};

__global__ void spread(const unsigned* sums, const unsigned* starts, int groups, unsigned* out)
{
    const int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g < groups) out[g] = sums[g] * 31u + starts[g];
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 2000;
    const unsigned range = argc > 2 ? (unsigned)atoi(argv[2]) : 50u;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 6u;
    if (n < 1 || range < 1) return 1;
    std::vector<unsigned> keys(n), values(n), sums(range, 0u), counts(range, 0u);
    unsigned run = 0;
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        if ((s >> 8) % (unsigned)n < range && run + 1 < range) run += 1 + (s >> 30);
        if (run >= range) run = range - 1;
        keys[i] = run;
        s = s * 1664525u + 1013904223u;
        values[i] = s >> 14;
        sums[keys[i]] += values[i];
        counts[keys[i]]++;
    }
    thrust::device_vector<unsigned> k(keys.begin(), keys.end()), v(values.begin(), values.end());
    thrust::device_vector<unsigned> uniqueKeys(n), groupSums(n), ones(n, 1u), groupCounts(n);
    const int groups = (int)(thrust::reduce_by_key(k.begin(), k.end(), v.begin(), uniqueKeys.begin(), groupSums.begin()).first - uniqueKeys.begin());
    thrust::reduce_by_key(k.begin(), k.end(), ones.begin(), uniqueKeys.begin(), groupCounts.begin());
    thrust::device_vector<unsigned> starts(groups), mixed(groups);
    thrust::exclusive_scan(groupCounts.begin(), groupCounts.begin() + groups, starts.begin());
    const unsigned squares = thrust::transform_reduce(v.begin(), v.end(), SquareMod(), 0u, thrust::plus<unsigned>());
    spread<<<(groups + 63) / 64, 64>>>(thrust::raw_pointer_cast(groupSums.data()), thrust::raw_pointer_cast(starts.data()), groups,
                                       thrust::raw_pointer_cast(mixed.data()));
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    std::vector<unsigned> hk(n), hv(n), hu(groups), hs(groups), hst(groups), hm(groups);
    CK(cudaMemcpy(hk.data(), thrust::raw_pointer_cast(k.data()), n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(hv.data(), thrust::raw_pointer_cast(v.data()), n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(hu.data(), thrust::raw_pointer_cast(uniqueKeys.data()), groups * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(hs.data(), thrust::raw_pointer_cast(groupSums.data()), groups * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(hst.data(), thrust::raw_pointer_cast(starts.data()), groups * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(hm.data(), thrust::raw_pointer_cast(mixed.data()), groups * sizeof(unsigned), cudaMemcpyDeviceToHost));
    int wrong = 0, g = 0;
    unsigned start = 0, fold = 0, expectedSquares = 0;
    for (unsigned key = 0; key < range; ++key) {
        if (!counts[key]) continue;
        if (g >= groups) { ++wrong; break; }
        wrong += hu[g] != key || hs[g] != sums[key] || hst[g] != start || hm[g] != sums[key] * 31u + start;
        start += counts[key];
        ++g;
    }
    wrong += g != groups;
    for (int i = 0; i < n; ++i) {
        expectedSquares += (values[i] & 0xffffu) * (values[i] & 0xffffu) % 9973u;
        fold = fold * 31u + hk[i] * 7u + hv[i];
    }
    wrong += squares != expectedSquares;
    printf("n %d groups %d squares %u\n", n, groups, squares);
    for (int i = 0; i < groups && i < 5; ++i) printf("key %u sum %u start %u mixed %u\n", hu[i], hs[i], hst[i], hm[i]);
    printf("fold %08x wrong %d\n", fold, wrong);
    return wrong ? 1 : 0;
}
