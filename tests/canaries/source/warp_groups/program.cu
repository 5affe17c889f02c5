// Groups of lanes that are parts of a warp of 32, made in every way that CUDA has.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
namespace cg = cooperative_groups;

__device__ void put(int*& row, int value) { *row++ = value; }

template <typename Group> __device__ void describe(int*& row, const Group& group, int value) {
    put(row, group.size());
    put(row, group.thread_rank());
    put(row, group.shfl(value, group.size() - 1));
    put(row, cg::reduce(group, value, cg::plus<int>()));
}

__global__ void parts(int* out) {
    int t = threadIdx.x, *row = out + t * 40;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::coalesced_group even = cg::binary_partition(warp, t % 2 == 0);
    describe(row, even, t);
    cg::coalesced_group same = cg::labeled_partition(warp, t % 5);
    describe(row, same, t);
    put(row, same.meta_group_size());
    put(row, same.meta_group_rank());
    if (t % 3 != 0) {
        cg::coalesced_group here = cg::coalesced_threads();
        describe(row, here, t);
        cg::coalesced_group four = cg::tiled_partition(here, 4);
        describe(row, four, t);
        put(row, four.meta_group_rank());
        put(row, here.shfl_up(t, 1));
        put(row, here.any(t == 40));
        put(row, here.all(t >= 32));
        put(row, here.match_any(t / 8));
        cg::coalesced_group odd = cg::binary_partition(here, t % 2 != 0);
        describe(row, odd, t);
        put(row, cg::inclusive_scan(here, 1));
    } else {
        for (int i = 0; i < 18; ++i) put(row, -1);
    }
    auto eight = cg::tiled_partition<8>(block);
    int all = 0;
    put(row, eight.match_all(t / 8, all));
    put(row, all);
    cg::coalesced_group half = cg::labeled_partition(eight, t / 4);
    describe(row, half, t);
}

int main() {
    static int h[64 * 40];
    int* d;
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    parts<<<1, 64>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int t : {0, 1, 7, 31, 32, 35, 50, 63}) {
        for (int i = 0; i < 36; ++i) printf("%d ", h[t * 40 + i]);
        printf("\n");
    }
    long long sum = 0;
    for (int i = 0; i < 64 * 40; ++i) sum += (long long)h[i] * (i % 97 + 1);
    printf("%lld\n", sum);
}
