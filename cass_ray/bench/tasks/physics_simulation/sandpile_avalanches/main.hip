// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void gpuAssert(hipError_t code, const char* file, int line)
{
    if (code == hipSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", hipGetErrorName(code), file, line);
    exit(1);
}
#define CHECK(ans) gpuAssert((ans), __FILE__, __LINE__)

__device__ int unstable;
__device__ unsigned long long topplings;
__device__ int lostGrains;

__global__ void drop(int* grid, const int* cells, int grains)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < grains) atomicAdd(&grid[cells[i]], 1);
}

// Reads from one grid and adds to the other, so that a sweep is the same in any order.
__global__ void topple(const int* from, int* to, int size)
{
    __shared__ int any;
    if (threadIdx.x == 0 && threadIdx.y == 0) any = 0;
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < size && y < size) {
        const int i = y * size + x, out = from[i] / 4;
        int grains = from[i] - 4 * out;
        if (x > 0) grains += from[i - 1] / 4;
        if (x + 1 < size) grains += from[i + 1] / 4;
        if (y > 0) grains += from[i - size] / 4;
        if (y + 1 < size) grains += from[i + size] / 4;
        to[i] = grains;
        if (out) {
            const int edges = (x == 0) + (y == 0) + (x + 1 == size) + (y + 1 == size);
            atomicAdd(&topplings, (unsigned long long)out);
            if (edges) atomicAdd(&lostGrains, edges * out);
        }
        if (grains >= 4) atomicOr(&any, 1);
    }
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0 && any) atomicExch(&unstable, 1);
}

int main(int argc, char** argv)
{
    const int size = argc > 1 ? atoi(argv[1]) : 30, grains = argc > 2 ? atoi(argv[2]) : 1500;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 7u;
    if (size < 1 || grains < 1) return 1;
    const int n = size * size;
    std::vector<int> grid(n, 2), cells(grains);
    for (int& c : cells) {
        s = s * 1664525u + 1013904223u;
        const int x = (int)((s >> 16) % (unsigned)size);
        s = s * 1664525u + 1013904223u;
        const int y = size / 4 + (int)((s >> 16) % (unsigned)(size / 2 + 1));
        c = y * size + x;
    }
    int *da, *db, *dc;
    CHECK(hipMalloc(&da, n * sizeof(int)));
    CHECK(hipMalloc(&db, n * sizeof(int)));
    CHECK(hipMalloc(&dc, grains * sizeof(int)));
    CHECK(hipMemcpy(da, grid.data(), n * sizeof(int), hipMemcpyHostToDevice));
    CHECK(hipMemcpy(dc, cells.data(), grains * sizeof(int), hipMemcpyHostToDevice));
    drop<<<(grains + 127) / 128, 128>>>(da, dc, grains);
    const dim3 block(16, 8), blocks((size + 15) / 16, (size + 7) / 8);
    int sweeps = 0, flag = 1;
    while (flag && sweeps < 5000) {
        flag = 0;
        CHECK(hipMemcpyToSymbol(HIP_SYMBOL(unstable), &flag, sizeof flag));
        topple<<<blocks, block>>>(da, db, size);
        CHECK(hipGetLastError());
        CHECK(hipMemcpyFromSymbol(&flag, HIP_SYMBOL(unstable), sizeof flag));
        int* t = da;
        da = db;
        db = t;
        ++sweeps;
    }
    std::vector<int> result(n);
    unsigned long long count = 0;
    int lost = 0;
    CHECK(hipMemcpy(result.data(), da, n * sizeof(int), hipMemcpyDeviceToHost));
    CHECK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(topplings), sizeof count));
    CHECK(hipMemcpyFromSymbol(&lost, HIP_SYMBOL(lostGrains), sizeof lost));
    // The host topples one pile at a time; the theorem says that the end is the same.
    for (int c : cells) grid[c]++;
    std::vector<int> stack;
    unsigned long long hostCount = 0;
    for (int i = 0; i < n; ++i) stack.push_back(i);
    while (!stack.empty()) {
        const int i = stack.back(), x = i % size, y = i / size;
        stack.pop_back();
        while (grid[i] >= 4) {
            grid[i] -= 4;
            ++hostCount;
            if (x > 0) { grid[i - 1]++; stack.push_back(i - 1); }
            if (x + 1 < size) { grid[i + 1]++; stack.push_back(i + 1); }
            if (y > 0) { grid[i - size]++; stack.push_back(i - size); }
            if (y + 1 < size) { grid[i + size]++; stack.push_back(i + size); }
        }
    }
    int heights[4] = {0, 0, 0, 0}, wrong = 0, left = 0;
    unsigned fold = 0;
    for (int i = 0; i < n; ++i) {
        wrong += result[i] != grid[i];
        heights[result[i] & 3]++;
        left += result[i];
        fold = fold * 5u + (unsigned)result[i];
    }
    wrong += count != hostCount || left + lost != 2 * n + grains;
    printf("size %d grains %d sweeps %d\ntopplings %llu lost %d left %d\n", size, grains, sweeps, count, lost, left);
    printf("heights %d %d %d %d fold %08x wrong %d\n", heights[0], heights[1], heights[2], heights[3], fold, wrong);
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    CHECK(hipFree(dc));
    return wrong ? 1 : 0;
}
