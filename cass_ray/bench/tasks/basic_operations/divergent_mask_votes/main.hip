// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(call) do { hipError_t e_ = (call); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

// Groups of 32 threads, on wavefronts of 32 and of 64 lanes alike: the lane within the group, and
// the group's half of a 64-bit ballot.
__device__ __forceinline__ unsigned laneIndex() { return threadIdx.x & 31u; }
__device__ __forceinline__ unsigned lanesBelow() { return (1u << laneIndex()) - 1u; }
__device__ __forceinline__ unsigned groupBallot(bool predicate)
{
    const unsigned long long all = __ballot(predicate);
    return (unsigned)(all >> (threadIdx.x & (unsigned)(warpSize - 1) & 32u));
}

struct Facts {
    uint32_t ballot;   // multiples of three among the lanes of one's branch
    int rank;          // own place among the lanes of the branch
    int leaderValue;   // value of the first lane of the branch
    int neighbour;     // value of the next lane of the branch, cyclic
    int flags;         // any and all in the branch
};

// All lanes vote and shuffle together; the branch only selects whose values count.
__global__ void vote(const int* values, int n, Facts* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = i < n;
    const int v = inside ? values[i] : -1;
    const unsigned odd = groupBallot(inside && (v & 1));
    const unsigned tens = groupBallot(inside && !(v & 1) && v % 10 == 0);
    const unsigned rest = groupBallot(inside && !(v & 1) && v % 10 != 0);
    const unsigned lane = laneIndex();
    const int branch = odd >> lane & 1u ? 0 : tens >> lane & 1u ? 1 : 2;
    const unsigned mine = branch == 0 ? odd : branch == 1 ? tens : rest;
    const unsigned later = mine & ~lanesBelow() & ~(1u << lane);
    const unsigned threes = groupBallot(v % 3 == 0);
    const unsigned high = groupBallot(v > 900);
    const unsigned notLow = groupBallot(v > 50);
    const int leader = __shfl(v, mine ? __ffs((int)mine) - 1 : 0, 32);
    const int neighbour = __shfl(v, mine ? __ffs((int)(later ? later : mine)) - 1 : 0, 32);
    Facts f;
    f.ballot = threes & mine;
    f.rank = __popc(mine & lanesBelow());
    f.leaderValue = branch == 0 ? leader : branch == 1 ? -leader : 2 * leader;
    f.neighbour = neighbour;
    f.flags = ((high & mine) != 0u) + 2 * ((notLow & mine) == mine);
    f.flags *= branch == 0 ? 1 : branch == 1 ? 4 : 16;
    if (inside)
        out[i] = f;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 3000;
    uint32_t s = argc > 2 ? (uint32_t)atoi(argv[2]) : 15u;
    if (n < 1) return 1;
    std::vector<int> values(n);
    for (int& v : values) {
        s = s * 1664525u + 1013904223u;
        v = (int)((s >> 10) % 1000u);
    }
    int* dv;
    Facts* df;
    HIP_CHECK(hipMalloc(&dv, n * sizeof(int)));
    HIP_CHECK(hipMalloc(&df, n * sizeof(Facts)));
    HIP_CHECK(hipMemcpy(dv, values.data(), n * sizeof(int), hipMemcpyHostToDevice));
    vote<<<(n + 127) / 128, 128>>>(dv, n, df);
    HIP_CHECK(hipGetLastError());
    std::vector<Facts> out(n);
    HIP_CHECK(hipMemcpy(out.data(), df, n * sizeof(Facts), hipMemcpyDeviceToHost));
    const int signs[3] = {1, -1, 2}, shift[3] = {1, 4, 16};
    int wrong = 0, counts[3] = {0, 0, 0};
    uint32_t fold = 0;
    long long ranks = 0, leaders = 0, neighbours = 0;
    for (int i = 0; i < n; ++i) {
        auto branch = [&](int j) { return values[j] & 1 ? 0 : values[j] % 10 == 0 ? 1 : 2; };
        const int mine = branch(i), first = i / 32 * 32, last = first + 32 < n ? first + 32 : n;
        Facts e = {0u, 0, 0, 0, 0};
        int leader = -1, next = -1, any = 0, all = 1;
        for (int j = first; j < last; ++j)
            if (branch(j) == mine) {
                if (leader < 0) leader = j;
                if (j > i && next < 0) next = j;
                if (j < i) e.rank++;
                if (values[j] % 3 == 0) e.ballot |= 1u << (j - first);
                any |= values[j] > 900;
                all &= values[j] > 50;
            }
        e.leaderValue = signs[mine] * values[leader];
        e.neighbour = values[next < 0 ? leader : next];
        e.flags = shift[mine] * (any + 2 * all);
        const Facts& f = out[i];
        wrong += f.ballot != e.ballot || f.rank != e.rank || f.leaderValue != e.leaderValue || f.neighbour != e.neighbour || f.flags != e.flags;
        counts[mine]++;
        fold = fold * 16777619u ^ f.ballot ^ (uint32_t)f.flags;
        ranks += f.rank;
        leaders += f.leaderValue;
        neighbours += (long long)f.neighbour * (i % 7);
    }
    printf("branches %d %d %d\n", counts[0], counts[1], counts[2]);
    printf("fold %08x ranks %lld leaders %lld neighbours %lld\n", fold, ranks, leaders, neighbours);
    printf("first ballots %08x %08x last %08x\n", out[0].ballot, out[n > 1].ballot, out[n - 1].ballot);
    printf("wrong %d\n", wrong);
    HIP_CHECK(hipFree(dv));
    HIP_CHECK(hipFree(df));
    return wrong ? 1 : 0;
}
