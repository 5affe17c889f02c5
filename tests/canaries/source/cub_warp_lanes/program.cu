// CUB's functions on lanes, and its collectives by alias and by using, none with a number of lanes.
#include <cstdio>
#include <cub/cub.cuh>
namespace c = cub;
using cub::WarpScan;
template <typename T> using Sum = c::WarpReduce<T>;

template <typename T> struct Both {
    typedef cub::WarpStore<T, 2, cub::WARP_STORE_TRANSPOSE> Store;
    typename Store::TempStorage& storage;
    __device__ explicit Both(typename Store::TempStorage& s) : storage(s) {}
    __device__ void put(T* to, T (&items)[2]) { Store(storage).Store(to, items); }
};

__global__ void go(int* out) {
    __shared__ typename Sum<int>::TempStorage reduce[2];
    __shared__ typename WarpScan<float>::TempStorage scan[2];
    __shared__ typename cub::WarpStore<int, 2, cub::WARP_STORE_TRANSPOSE>::TempStorage store[2];
    int t = threadIdx.x, warp = t / 32, *row = out + t * 9;
    row[0] = Sum<int>(reduce[warp]).Sum(t);
    if (t % 32 != 0) row[0] = 0;
    float upto;
    WarpScan<float>(scan[warp]).ExclusiveSum(float(t), upto);
    row[1] = int(upto);
    row[2] = cub::ShuffleUp<16>(t, 3, 2, 0xffffffffu);
    row[3] = cub::ShuffleDown<32>(double(t) * 0.5, 4, 29, 0xffffffffu) * 2;
    row[4] = cub::ShuffleIndex<8>(short(t), 5, 0xffffffffu);
    for (int i = 5; i < 9; ++i) row[i] = 0;
    int items[2] = {t * 2, t * 2 + 1};
    Both<int>(store[warp]).put(out + 1000 + warp * 64, items);
}

int main() {
    int h[1200], *d;
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    go<<<1, 64>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int t : {0, 1, 2, 15, 18, 31, 32, 47, 60, 63}) {
        for (int k = 0; k < 5; ++k) printf("%d ", h[t * 9 + k]);
        printf("| %d\n", h[1000 + t]);
    }
}
