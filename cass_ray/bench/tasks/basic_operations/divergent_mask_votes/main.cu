// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkCuda(cudaError_t code, const char* what, int line) {
    if (code != cudaSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(code));
        exit(2);
    }
}
#define CHECK(expr) checkCuda((expr), #expr, __LINE__)

__device__ __forceinline__ unsigned laneIndex()
{
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
__device__ __forceinline__ unsigned lanesBelow()
{
    unsigned mask;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

struct Facts {
    uint32_t ballot;   // multiples of three among the lanes of one's branch
    int rank;          // own place among the lanes of the branch
    int leaderValue;   // value of the first lane of the branch
    int neighbour;     // value of the next lane of the branch, cyclic
    int flags;         // any and all in the branch
};

// Lanes take one of three branches; the lanes of each branch talk only to each other.
__global__ void vote(const int* values, int n, Facts* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = i < n;
    const int v = inside ? values[i] : -1;
    const unsigned odd = __ballot_sync(0xffffffffu, inside && (v & 1));
    const unsigned tens = __ballot_sync(0xffffffffu, inside && !(v & 1) && v % 10 == 0);
    const unsigned rest = __ballot_sync(0xffffffffu, inside && !(v & 1) && v % 10 != 0);
    const unsigned lane = laneIndex();
    Facts f = {0u, 0, 0, 0, 0};
    if (odd >> lane & 1u) {
        f.ballot = __ballot_sync(odd, v % 3 == 0);
        f.rank = __popc(odd & lanesBelow());
        f.leaderValue = __shfl_sync(odd, v, __ffs((int)odd) - 1);
        f.flags = __any_sync(odd, v > 900) + 2 * __all_sync(odd, v > 50);
        const unsigned later = odd & ~lanesBelow() & ~(1u << lane);
        f.neighbour = __shfl_sync(odd, v, __ffs((int)(later ? later : odd)) - 1);
    } else if (tens >> lane & 1u) {
        f.ballot = __ballot_sync(tens, v % 3 == 0);
        f.rank = __popc(tens & lanesBelow());
        f.leaderValue = -__shfl_sync(tens, v, __ffs((int)tens) - 1);
        f.flags = 4 * __any_sync(tens, v > 900) + 8 * __all_sync(tens, v > 50);
        const unsigned later = tens & ~lanesBelow() & ~(1u << lane);
        f.neighbour = __shfl_sync(tens, v, __ffs((int)(later ? later : tens)) - 1);
    } else if (rest >> lane & 1u) {
        f.ballot = __ballot_sync(rest, v % 3 == 0);
        f.rank = __popc(rest & lanesBelow());
        f.leaderValue = 2 * __shfl_sync(rest, v, __ffs((int)rest) - 1);
        f.flags = 16 * __any_sync(rest, v > 900) + 32 * __all_sync(rest, v > 50);
        const unsigned later = rest & ~lanesBelow() & ~(1u << lane);
        f.neighbour = __shfl_sync(rest, v, __ffs((int)(later ? later : rest)) - 1);
    }
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
    CHECK(cudaMalloc(&dv, n * sizeof(int)));
    CHECK(cudaMalloc(&df, n * sizeof(Facts)));
    CHECK(cudaMemcpy(dv, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    vote<<<(n + 127) / 128, 128>>>(dv, n, df);
    CHECK(cudaGetLastError());
    std::vector<Facts> out(n);
    CHECK(cudaMemcpy(out.data(), df, n * sizeof(Facts), cudaMemcpyDeviceToHost));
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
    CHECK(cudaFree(dv));
    CHECK(cudaFree(df));
    return wrong ? 1 : 0;
}
