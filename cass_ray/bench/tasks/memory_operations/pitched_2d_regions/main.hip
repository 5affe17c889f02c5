// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define gpuErrchk(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

// Sum of the eight neighbours; rows are pitch bytes apart.
__global__ void neighbourSums(const char* in, size_t inPitch, char* out, size_t outPitch, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            const int u = x + dx, v = y + dy;
            if ((dx || dy) && u >= 0 && u < width && v >= 0 && v < height)
                sum += ((const int*)(in + v * inPitch))[u];
        }
    ((int*)(out + y * outPitch))[x] = sum;
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 90, height = argc > 2 ? atoi(argv[2]) : 70;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 2u;
    if (width < 6 || height < 6) return 1;
    std::vector<int> image(width * height), result(width * height), model(width * height);
    for (int& v : image) {
        s = s * 1664525u + 1013904223u;
        v = (int)(s >> 20);
    }
    char *a, *b;
    size_t pa, pb;
    const size_t row = width * sizeof(int);
    gpuErrchk(hipMallocPitch((void**)&a, &pa, row, height));
    gpuErrchk(hipMallocPitch((void**)&b, &pb, row, height));
    printf("pitches hold rows: %s, aligned: %s\n", pa >= row && pb >= row ? "yes" : "no", pa % 16 == 0 ? "yes" : "no");
    gpuErrchk(hipMemcpy2D(a, pa, image.data(), row, row, height, hipMemcpyHostToDevice));
    // Blank a rectangle in the middle, and copy the top left corner to the bottom right one.
    const int w = width / 3, h = height / 3;
    gpuErrchk(hipMemset2D(a + (height / 3) * pa + (width / 3) * sizeof(int), pa, 0, w * sizeof(int), h));
    gpuErrchk(hipMemcpy2D(a + (height - h) * pa + (width - w) * sizeof(int), pa, a, pa, w * sizeof(int), h, hipMemcpyDeviceToDevice));
    gpuErrchk(hipMemset2D(b, pb, 0xff, row, height));
    neighbourSums<<<dim3((width + 15) / 16, (height + 7) / 8), dim3(16, 8)>>>(a, pa, b, pb, width, height);
    gpuErrchk(hipGetLastError());
    gpuErrchk(hipMemcpy2D(result.data(), row, b, pb, row, height, hipMemcpyDeviceToHost));
    // A column strip comes back on its own.
    std::vector<int> strip(3 * height);
    gpuErrchk(hipMemcpy2D(strip.data(), 3 * sizeof(int), b + 2 * sizeof(int), pb, 3 * sizeof(int), height, hipMemcpyDeviceToHost));

    model = image;
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) model[(y + height / 3) * width + x + width / 3] = 0;
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) model[(height - h + y) * width + width - w + x] = model[y * width + x];
    int wrong = 0;
    long long sum = 0, stripSum = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            int e = 0;
            for (int v = y - 1; v <= y + 1; ++v)
                for (int u = x - 1; u <= x + 1; ++u)
                    if ((u != x || v != y) && u >= 0 && v >= 0 && u < width && v < height) e += model[v * width + u];
            wrong += e != result[y * width + x];
            sum += (long long)result[y * width + x] * (x % 4 + y % 3 + 1);
            if (x >= 2 && x < 5) wrong += strip[3 * y + x - 2] != result[y * width + x];
        }
    for (int v : strip) stripSum += v;
    printf("%d x %d: weighted %lld strip %lld corner %d wrong %d\n", width, height, sum, stripSum, result[width * height - 1], wrong);
    gpuErrchk(hipFree(a));
    gpuErrchk(hipFree(b));
    return wrong ? 1 : 0;
}
