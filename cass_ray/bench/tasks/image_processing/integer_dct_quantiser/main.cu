// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
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

// round(4096 * sqrt(2 / 8) * cos((2 j + 1) i pi / 16)), with the first row divided by sqrt(2).
#define BASIS { 1448, 1448, 1448, 1448, 1448, 1448, 1448, 1448, 2009, 1703, 1138, 400, -400, -1138, -1703, -2009, \
                1892, 784, -784, -1892, -1892, -784, 784, 1892, 1703, -400, -2009, -1138, 1138, 2009, 400, -1703, \
                1448, -1448, -1448, 1448, 1448, -1448, -1448, 1448, 1138, -2009, 400, 1703, -1703, -400, 2009, -1138, \
                784, -1892, 1892, -784, -784, 1892, -1892, 784, 400, -1138, 1703, -2009, 2009, -1703, 1138, -400 }
__constant__ int basis[64] = BASIS;
__constant__ int quantum[64];
__constant__ unsigned char zigzag[64] = {
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63 };

// One block of 64 threads per block of 64 pixels.
__global__ void encode(const unsigned char* image, int width, int height, short* codes, int* zeros)
{
    __shared__ int a[64], b[64];
    __shared__ int count;
    const int t = threadIdx.x, x = t % 8, y = t / 8;
    const int px = min((int)blockIdx.x * 8 + x, width - 1), py = min((int)blockIdx.y * 8 + y, height - 1);
    if (t == 0) count = 0;
    a[t] = (int)image[py * width + px] - 128;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 8; ++k) sum += basis[x * 8 + k] * a[y * 8 + k];
    b[t] = (sum + 256) >> 9;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; ++k) sum += basis[y * 8 + k] * b[k * 8 + x];
    a[t] = (sum + 16384) >> 15;
    __syncthreads();
    const int at = zigzag[t], v = a[at], q = quantum[at];
    const int code = v >= 0 ? (v + q / 2) / q : -((-v + q / 2) / q);
    codes[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + t] = (short)code;
    if (code == 0) atomicAdd(&count, 1);
    __syncthreads();
    if (t == 0) zeros[blockIdx.y * gridDim.x + blockIdx.x] = count;
}

__global__ void decode(const short* codes, int width, int height, unsigned char* image)
{
    __shared__ int a[64], b[64];
    const int t = threadIdx.x, x = t % 8, y = t / 8;
    const int at = zigzag[t];
    a[at] = codes[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + t] * quantum[at];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 8; ++k) sum += basis[k * 8 + y] * a[k * 8 + x];
    b[t] = (sum + 256) >> 9;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; ++k) sum += basis[k * 8 + x] * b[y * 8 + k];
    const int v = min(max(((sum + 16384) >> 15) + 128, 0), 255);
    const int px = blockIdx.x * 8 + x, py = blockIdx.y * 8 + y;
    if (px < width && py < height) image[py * width + px] = (unsigned char)v;
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 96, height = argc > 2 ? atoi(argv[2]) : 64;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    const int quality = argc > 4 ? atoi(argv[4]) : 60;
    if (width < 1 || height < 1 || quality < 1 || quality > 100) return 1;
    int q[64];
    for (int i = 0; i < 64; ++i) {
        q[i] = (10 + 6 * (i % 8 + i / 8)) * (105 - quality) / 50;
        if (q[i] < 1) q[i] = 1;
    }
    CUDA_CHECK(cudaMemcpyToSymbol(quantum, q, sizeof q));
    const int n = width * height;
    std::vector<unsigned char> image(n), back(n);
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        const int x = i % width, y = i / width;
        image[i] = (unsigned char)((x * 3 + y * 2 + (int)(s >> 27) + ((x / 11 + y / 7) % 2) * 60) & 255);
    }
    const dim3 grid((width + 7) / 8, (height + 7) / 8);
    const int blocks = (int)(grid.x * grid.y);
    unsigned char *di, *dback;
    short* dc;
    int* dz;
    CUDA_CHECK(cudaMalloc(&di, n));
    CUDA_CHECK(cudaMalloc(&dback, n));
    CUDA_CHECK(cudaMalloc(&dc, blocks * 64 * sizeof(short)));
    CUDA_CHECK(cudaMalloc(&dz, blocks * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(di, image.data(), n, cudaMemcpyHostToDevice));
    encode<<<grid, 64>>>(di, width, height, dc, dz);
    decode<<<grid, 64>>>(dc, width, height, dback);
    CUDA_CHECK(cudaGetLastError());
    std::vector<short> codes(blocks * 64);
    std::vector<int> zeros(blocks);
    CUDA_CHECK(cudaMemcpy(codes.data(), dc, codes.size() * sizeof(short), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(zeros.data(), dz, blocks * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(back.data(), dback, n, cudaMemcpyDeviceToHost));
    long long error = 0;
    int worst = 0, zeroCount = 0, counted = 0;
    unsigned foldCodes = 0, foldImage = 0;
    for (int i = 0; i < n; ++i) {
        const int d = abs((int)image[i] - (int)back[i]);
        error += d * d;
        if (d > worst) worst = d;
        foldImage = foldImage * 31u + back[i];
    }
    for (short c : codes) {
        foldCodes = foldCodes * 31u + (unsigned)(c + 32768);
        counted += c == 0;
    }
    for (int z : zeros) zeroCount += z;
    printf("%d blocks, zeros %d\n", blocks, zeroCount);
    printf("first block:");
    for (int i = 0; i < 12; ++i) printf(" %d", codes[i]);
    printf("\nfolds %08x %08x\nsquared error %lld worst %d\n", foldCodes, foldImage, error, worst);
    const bool ok = counted == zeroCount && worst < 200 && error < 900ll * n;
    printf("%s\n", ok ? "ok" : "FAILED");
    CUDA_CHECK(cudaFree(di));
    CUDA_CHECK(cudaFree(dback));
    CUDA_CHECK(cudaFree(dc));
    CUDA_CHECK(cudaFree(dz));
    return ok ? 0 : 1;
}
