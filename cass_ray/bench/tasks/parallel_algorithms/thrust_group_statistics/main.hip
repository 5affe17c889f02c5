// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
// rocPRIM releases that do not know gfx11 would use its row broadcasts, which that has not.
#define ROCPRIM_DISABLE_DPP
#define ROCPRIM_DETAIL_USE_DPP false
#include <rocprim/rocprim.hpp>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(call) do { hipError_t e_ = (call); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

struct SquareMod {
    __host__ __device__ unsigned operator()(unsigned v) const { return (v & 0xffffu) * (v & 0xffffu) % 9973u; }
};

__global__ void spread(const unsigned* sums, const unsigned* starts, int groups, unsigned* out)
{
    const int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g < groups) out[g] = sums[g] * 31u + starts[g];
}

// Calls one of rocPRIM's functions twice: for the size of its temporary memory, and to do the work.
template <class Call>
static void withStorage(Call call)
{
    size_t bytes = 0;
    void* storage = nullptr;
    HIP_CHECK(call(nullptr, bytes));
    HIP_CHECK(hipMalloc(&storage, bytes ? bytes : 1));
    HIP_CHECK(call(storage, bytes));
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipFree(storage));
}

static unsigned* allocate(int n)
{
    unsigned* p = nullptr;
    HIP_CHECK(hipMalloc(&p, n * sizeof(unsigned)));
    return p;
}

static std::vector<unsigned> fetch(const unsigned* p, int n)
{
    std::vector<unsigned> v(n);
    HIP_CHECK(hipMemcpy(v.data(), p, n * sizeof(unsigned), hipMemcpyDeviceToHost));
    return v;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 2000;
    const unsigned range = argc > 2 ? (unsigned)atoi(argv[2]) : 50u;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 6u;
    if (n < 1 || range < 1) return 1;
    std::vector<unsigned> keys(n), values(n), sums(range, 0u), counts(range, 0u), units(n, 1u);
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
    unsigned *k = allocate(n), *v = allocate(n), *ones = allocate(n);
    unsigned *uniqueKeys = allocate(n), *groupSums = allocate(n), *groupCounts = allocate(n);
    unsigned *groupCount = allocate(1), *answer = allocate(1);
    HIP_CHECK(hipMemcpy(k, keys.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(v, values.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(ones, units.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
    withStorage([&](void* t, size_t& b) {
        return rocprim::reduce_by_key(t, b, k, v, n, uniqueKeys, groupSums, groupCount, rocprim::plus<unsigned>());
    });
    withStorage([&](void* t, size_t& b) {
        return rocprim::reduce_by_key(t, b, k, ones, n, uniqueKeys, groupCounts, groupCount, rocprim::plus<unsigned>());
    });
    const int groups = (int)fetch(groupCount, 1)[0];
    unsigned *starts = allocate(groups), *mixed = allocate(groups);
    withStorage([&](void* t, size_t& b) {
        return rocprim::exclusive_scan(t, b, groupCounts, starts, 0u, groups, rocprim::plus<unsigned>());
    });
    withStorage([&](void* t, size_t& b) {
        return rocprim::reduce(t, b, rocprim::make_transform_iterator(v, SquareMod()), answer, 0u, n, rocprim::plus<unsigned>());
    });
    const unsigned squares = fetch(answer, 1)[0];
    spread<<<(groups + 63) / 64, 64>>>(groupSums, starts, groups, mixed);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    const std::vector<unsigned> hk = fetch(k, n), hv = fetch(v, n), hu = fetch(uniqueKeys, groups), hs = fetch(groupSums, groups);
    const std::vector<unsigned> hst = fetch(starts, groups), hm = fetch(mixed, groups);
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
    for (unsigned* p : { k, v, ones, uniqueKeys, groupSums, groupCounts, groupCount, answer, starts, mixed }) HIP_CHECK(hipFree(p));
    return wrong ? 1 : 0;
}
