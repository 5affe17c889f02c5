// SPDX-License-Identifier: MIT
// Sobel edge detection with an integer gradient magnitude, an automatic threshold taken from
// the device-side maximum, and edge pixels packed into bit masks by warp ballots.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CU_CHECK(op)                                                       \
    do {                                                                   \
        if (cudaError_t e = (op)) {                                        \
            fprintf(stderr, "sobel %d: %s\n", __LINE__, cudaGetErrorName(e)); \
            exit(2);                                                       \
        }                                                                  \
    } while (0)

constexpr int kTileW = 32, kTileH = 8;

__device__ unsigned strongest;

__host__ __device__ inline int absolute(int v) { return v < 0 ? -v : v; }

__global__ void gradient(const unsigned char* __restrict__ image, unsigned short* __restrict__ magnitude, int w, int h)
{
    __shared__ int tile[kTileH + 2][kTileW + 2];
    const int x0 = blockIdx.x * kTileW - 1, y0 = blockIdx.y * kTileH - 1;
    for (int i = threadIdx.y * kTileW + threadIdx.x; i < (kTileH + 2) * (kTileW + 2); i += kTileW * kTileH) {
        const int sx = min(max(x0 + i % (kTileW + 2), 0), w - 1);
        const int sy = min(max(y0 + i / (kTileW + 2), 0), h - 1);
        tile[i / (kTileW + 2)][i % (kTileW + 2)] = image[sy * w + sx];
    }
    __syncthreads();
    const int x = blockIdx.x * kTileW + threadIdx.x, y = blockIdx.y * kTileH + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const int(*t)[kTileW + 2] = &tile[threadIdx.y];
    const int c = threadIdx.x;
    const int gx = t[0][c + 2] + 2 * t[1][c + 2] + t[2][c + 2] - t[0][c] - 2 * t[1][c] - t[2][c];
    const int gy = t[2][c] + 2 * t[2][c + 1] + t[2][c + 2] - t[0][c] - 2 * t[0][c + 1] - t[0][c + 2];
    const unsigned m = (unsigned)(absolute(gx) + absolute(gy));
    magnitude[y * w + x] = (unsigned short)m;
    atomicMax(&strongest, m);
}

__global__ void packEdges(const unsigned short* magnitude, int w, int h, unsigned* mask, int wordsPerRow, unsigned* count)
{
    const unsigned threshold = strongest / 3;
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const bool edge = x < w && y < h && magnitude[y * w + x] > threshold;
    const unsigned bits = __ballot_sync(0xffffffffu, edge);
    if (threadIdx.x == 0 && y < h) {
        mask[y * wordsPerRow + blockIdx.x] = bits;
        atomicAdd(count, (unsigned)__popc(bits));
    }
}

int main(int argc, char** argv)
{
    const int w = argc > 1 ? atoi(argv[1]) : 130;
    const int h = argc > 2 ? atoi(argv[2]) : 75;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 44u;
    if (w < 3 || h < 3)
        return 2;
    std::vector<unsigned char> image(w * h);
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
            seed = seed * 1103515245u + 12345u;
            const int dx = x - w / 2, dy = 2 * (y - h / 2);
            image[y * w + x] = (unsigned char)((dx * dx + dy * dy < w * w / 9 ? 180 : 60) + (int)(seed >> 28));
        }
    const int words = (w + 31) / 32;
    unsigned char* dImage;
    unsigned short* dMagnitude;
    unsigned *dMask, *dCount, zero = 0, maximum = 0, count = 0;
    CU_CHECK(cudaMalloc(&dImage, w * h));
    CU_CHECK(cudaMalloc(&dMagnitude, w * h * sizeof(unsigned short)));
    CU_CHECK(cudaMalloc(&dMask, words * h * sizeof(unsigned)));
    CU_CHECK(cudaMalloc(&dCount, sizeof(unsigned)));
    CU_CHECK(cudaMemset(dCount, 0, sizeof(unsigned)));
    CU_CHECK(cudaMemcpyToSymbol(strongest, &zero, sizeof zero));
    CU_CHECK(cudaMemcpy(dImage, image.data(), w * h, cudaMemcpyHostToDevice));
    const dim3 block(kTileW, kTileH), grid(words, (h + kTileH - 1) / kTileH);
    gradient<<<grid, block>>>(dImage, dMagnitude, w, h);
    packEdges<<<grid, block>>>(dMagnitude, w, h, dMask, words, dCount);
    CU_CHECK(cudaGetLastError());
    CU_CHECK(cudaMemcpyFromSymbol(&maximum, strongest, sizeof maximum));
    CU_CHECK(cudaMemcpy(&count, dCount, sizeof count, cudaMemcpyDeviceToHost));
    std::vector<unsigned> mask(words * h);
    CU_CHECK(cudaMemcpy(mask.data(), dMask, mask.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));

    std::vector<unsigned> expected(w * h);
    unsigned top = 0, edges = 0;
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
            int gx = 0, gy = 0;
            for (int j = -1; j <= 1; ++j)
                for (int i = -1; i <= 1; ++i) {
                    const int sx = x + i < 0 ? 0 : x + i >= w ? w - 1 : x + i;
                    const int sy = y + j < 0 ? 0 : y + j >= h ? h - 1 : y + j;
                    gx += i * (2 - absolute(j)) * image[sy * w + sx];
                    gy += j * (2 - absolute(i)) * image[sy * w + sx];
                }
            expected[y * w + x] = (unsigned)(absolute(gx) + absolute(gy));
            top = expected[y * w + x] > top ? expected[y * w + x] : top;
        }
    bool ok = top == maximum;
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
            const unsigned edge = expected[y * w + x] > top / 3;
            edges += edge;
            ok = ok && (mask[y * words + x / 32] >> (x % 32) & 1u) == edge;
        }
    ok = ok && edges == count;
    printf("image %dx%d, strongest gradient %u, edge pixels %u\n", w, h, maximum, count);
    printf("middle row:");
    for (int i = 0; i < words; ++i)
        printf(" %08x", mask[h / 2 * words + i]);
    printf("\nverify: %s\n", ok ? "OK" : "MISMATCH");
    CU_CHECK(cudaFree(dImage));
    CU_CHECK(cudaFree(dMagnitude));
    CU_CHECK(cudaFree(dMask));
    CU_CHECK(cudaFree(dCount));
    return ok ? 0 : 1;
}
