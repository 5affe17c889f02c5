// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void gpuAssert(cudaError_t code, const char* file, int line)
{
    if (code == cudaSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", cudaGetErrorName(code), file, line);
    exit(1);
}
#define CUDA_CHECK(ans) gpuAssert((ans), __FILE__, __LINE__)

struct Pair {
    int key;
    uint32_t tag;
};

template <typename T, typename Less>
__device__ void bitonic(T* s, int size, Less less)
{
    for (int k = 2; k <= size; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
            __syncthreads();
            for (int i = threadIdx.x; i < size; i += blockDim.x) {
                const int other = i ^ j;
                if (other > i) {
                    const bool up = (i & k) == 0;
                    if (less(s[other], s[i]) == up) {
                        const T t = s[i];
                        s[i] = s[other];
                        s[other] = t;
                    }
                }
            }
        }
    __syncthreads();
}

// Block 0: by key, then tag. Block 1: by tag, descending. Block 2: by distance of the key from centre.
__global__ void sortPairs(const Pair* in, int n, int size, int centre, Pair* out)
{
    extern __shared__ unsigned char raw[];
    Pair* s = reinterpret_cast<Pair*>(raw);
    const Pair last = { 2147483647, blockIdx.x == 1 ? 0u : 0xffffffffu };
    for (int i = threadIdx.x; i < size; i += blockDim.x) s[i] = i < n ? in[i] : last;
    if (blockIdx.x == 0)
        bitonic(s, size, [](const Pair& a, const Pair& b) { return a.key != b.key ? a.key < b.key : a.tag < b.tag; });
    else if (blockIdx.x == 1)
        bitonic(s, size, [](const Pair& a, const Pair& b) { return a.tag > b.tag; });
    else
        bitonic(s, size, [centre](const Pair& a, const Pair& b) {
            const long long da = llabs((long long)a.key - centre), db = llabs((long long)b.key - centre);
            return da != db ? da < db : a.tag < b.tag;
        });
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = s[i];
}

__global__ void sortWide(uint64_t* data, int n, int size)
{
    extern __shared__ unsigned char raw[];
    uint64_t* s = reinterpret_cast<uint64_t*>(raw);
    for (int i = threadIdx.x; i < size; i += blockDim.x) s[i] = i < n ? data[i] : ~0ull;
    bitonic(s, size, [](uint64_t a, uint64_t b) { return a < b; });
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = s[i];
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1500;
    uint64_t s = argc > 2 ? strtoull(argv[2], nullptr, 10) : 3ull;
    if (n < 1 || n > 4096) return 1;
    int size = 2;
    while (size < n) size <<= 1;
    std::vector<Pair> in(n), out(3 * n);
    std::vector<uint64_t> wide(n), sorted(n);
    for (int i = 0; i < n; ++i) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        in[i].key = (int)(s >> 40 & 1023) - 512;
        in[i].tag = (uint32_t)(s >> 20 & 0xffff0000u) + (uint32_t)i + 1u;
        wide[i] = s;
    }
    const int centre = in[0].key;
    Pair *di, *dout;
    uint64_t* dw;
    CUDA_CHECK(cudaMalloc(&di, n * sizeof(Pair)));
    CUDA_CHECK(cudaMalloc(&dout, 3 * n * sizeof(Pair)));
    CUDA_CHECK(cudaMalloc(&dw, n * sizeof(uint64_t)));
    CUDA_CHECK(cudaMemcpy(di, in.data(), n * sizeof(Pair), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dw, wide.data(), n * sizeof(uint64_t), cudaMemcpyHostToDevice));
    sortPairs<<<3, 128, size * sizeof(Pair)>>>(di, n, size, centre, dout);
    sortWide<<<1, 256, size * sizeof(uint64_t)>>>(dw, n, size);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), dout, 3 * n * sizeof(Pair), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(sorted.data(), dw, n * sizeof(uint64_t), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int b = 0; b < 3; ++b) {
        std::vector<Pair> e(in);
        std::sort(e.begin(), e.end(), [b, centre](const Pair& x, const Pair& y) {
            if (b == 0) return x.key != y.key ? x.key < y.key : x.tag < y.tag;
            if (b == 1) return x.tag > y.tag;
            const int dx = std::abs(x.key - centre), dy = std::abs(y.key - centre);
            return dx != dy ? dx < dy : x.tag < y.tag;
        });
        uint32_t fold = 0;
        for (int i = 0; i < n; ++i) {
            const Pair& p = out[b * n + i];
            wrong += p.key != e[i].key || p.tag != e[i].tag;
            fold = fold * 31u + (uint32_t)p.key * 3u + p.tag;
        }
        printf("order %d: first (%d, %08x) last (%d, %08x) fold %08x\n", b, out[b * n].key, out[b * n].tag, out[b * n + n - 1].key,
               out[b * n + n - 1].tag, fold);
    }
    std::sort(wide.begin(), wide.end());
    uint64_t fold = 0;
    for (int i = 0; i < n; ++i) {
        wrong += wide[i] != sorted[i];
        fold = fold * 31 + sorted[i];
    }
    printf("wide: first %016llx fold %016llx\nwrong %d\n", (unsigned long long)sorted[0], (unsigned long long)fold, wrong);
    CUDA_CHECK(cudaFree(di));
    CUDA_CHECK(cudaFree(dout));
    CUDA_CHECK(cudaFree(dw));
    return wrong ? 1 : 0;
}
