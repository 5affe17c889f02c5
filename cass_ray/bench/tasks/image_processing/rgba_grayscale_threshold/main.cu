// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "CUDA failure %d at line %d: %s\n", (int)e_, __LINE__, cudaGetErrorString(e_)); \
    exit(3); } } while (0)

__global__ void luminance(const uchar4* pixels, unsigned char* gray, int n, unsigned long long* sum)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uchar4 p = pixels[i];
    const unsigned y = (77u * p.x + 150u * p.y + 29u * p.z + 128u) >> 8;
    gray[i] = (unsigned char)y;
    atomicAdd(sum, (unsigned long long)y);
}

__global__ void threshold(uchar4* pixels, const unsigned char* gray, int n, unsigned mean)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char v = gray[i] > mean ? 255 : 0;
    pixels[i] = make_uchar4(v, v, gray[i], (unsigned char)(255 - pixels[i].w));
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 120, height = argc > 2 ? atoi(argv[2]) : 80;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    if (width < 1 || height < 1) return 1;
    const int n = width * height;
    std::vector<uchar4> image(n), result(n);
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        image[i].x = (unsigned char)(s >> 24);
        image[i].y = (unsigned char)((i % width) * 255 / width);
        image[i].z = (unsigned char)((s >> 16 & 127u) + (i / width) * 127 / height);
        image[i].w = (unsigned char)(s >> 8);
    }
    uchar4* dp;
    unsigned char* dg;
    unsigned long long *ds, sum = 0;
    CHECK(cudaMalloc(&dp, n * sizeof(uchar4)));
    CHECK(cudaMalloc(&dg, n));
    CHECK(cudaMalloc(&ds, sizeof sum));
    CHECK(cudaMemset(ds, 0, sizeof sum));
    CHECK(cudaMemcpy(dp, image.data(), n * sizeof(uchar4), cudaMemcpyHostToDevice));
    luminance<<<(n + 127) / 128, 128>>>(dp, dg, n, ds);
    CHECK(cudaMemcpy(&sum, ds, sizeof sum, cudaMemcpyDeviceToHost));
    const unsigned mean = (unsigned)(sum / n);
    threshold<<<(n + 127) / 128, 128>>>(dp, dg, n, mean);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result.data(), dp, n * sizeof(uchar4), cudaMemcpyDeviceToHost));
    int white = 0, wrong = 0;
    unsigned fold = 0;
    for (int i = 0; i < n; ++i) {
        const unsigned y = (77u * image[i].x + 150u * image[i].y + 29u * image[i].z + 128u) >> 8;
        wrong += result[i].z != y || result[i].x != (y > mean ? 255 : 0) || result[i].y != result[i].x || result[i].w != 255 - image[i].w;
        white += result[i].x == 255;
        fold = fold * 31u + result[i].x + 3u * result[i].z + 5u * result[i].w;
    }
    printf("%d x %d mean %u white %d fold %08x wrong %d\n", width, height, mean, white, fold, wrong);
    for (int i = 0; i < n; i += n / 4 + 1) printf("pixel %d: %d %d %d %d\n", i, result[i].x, result[i].y, result[i].z, result[i].w);
    CHECK(cudaFree(dp));
    CHECK(cudaFree(dg));
    CHECK(cudaFree(ds));
    return wrong ? 1 : 0;
}
