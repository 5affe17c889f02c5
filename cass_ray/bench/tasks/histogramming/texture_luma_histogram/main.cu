// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Luminance histogram of an RGBA image read through a texture object with clamped coordinates,
// and of its horizontal differences.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRY(expression)                                                        \
    if (cudaError_t failure = (expression); failure != cudaSuccess) {            \
        fprintf(stderr, "error %d (%s) in line %d\n", (int)failure,              \
                cudaGetErrorName(failure), __LINE__);                            \
        exit(2);                                                                 \
    }

class Random {
public:
    explicit Random(unsigned seed) : state(seed * 2654435761u + 12345u) {}
    unsigned next()
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (unsigned)(state >> 32);
    }
    unsigned below(unsigned bound) { return next() % bound; }

private:
    unsigned long long state;
};

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* cleared(size_t count)
{
    T* memory = nullptr;
    TRY(cudaMalloc(&memory, count * sizeof(T)));
    TRY(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> copyOut(const T* memory, size_t count)
{
    std::vector<T> values(count);
    TRY(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

// FNV-1a over the bytes of all values.
template <typename T>
static unsigned hashOf(const std::vector<T>& values)
{
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(values.data());
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < values.size() * sizeof(T); ++i)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

template <typename T>
static void printSome(const char* label, const std::vector<T>& values, size_t count = 8)
{
    printf("%s:", label);
    const size_t step = values.size() > count ? values.size() / count : 1;
    for (size_t i = 0; i < values.size(); i += step)
        printf(" %lld", (long long)values[i]);
    printf("\n");
}

static int conclude(bool right)
{
    TRY(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

__global__ void lumaHistogram(cudaTextureObject_t image, int width, int height, unsigned* luma,
                              unsigned* differences)
{
    __shared__ unsigned local[2][64];
    const int t = threadIdx.y * blockDim.x + threadIdx.x;
    if (t < 64)
        local[0][t] = local[1][t] = 0;
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        const uchar4 here = tex2D<uchar4>(image, x + 0.5f, y + 0.5f);
        // Right of the last column the texture repeats the border.
        const uchar4 right = tex2D<uchar4>(image, x + 1.5f, y + 0.5f);
        const int a = (77 * here.x + 150 * here.y + 29 * here.z) >> 8;
        const int b = (77 * right.x + 150 * right.y + 29 * right.z) >> 8;
        atomicAdd(&local[0][a >> 2], 1u);
        atomicAdd(&local[1][abs(a - b) >> 2], 1u + (here.w & 1u));
    }
    __syncthreads();
    if (t < 64) {
        atomicAdd(&luma[t], local[0][t]);
        atomicAdd(&differences[t], local[1][t]);
    }
}

int main(int argc, char** argv)
{
    const int width = argument(argc, argv, 1, 100);
    const int height = argument(argc, argv, 2, 70);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (width < 1 || height < 1)
        return 2;
    std::vector<uchar4> pixels(width * height);
    for (int i = 0; i < width * height; ++i) {
        const int x = i % width, y = i / width;
        pixels[i].x = (unsigned char)(x * 2 + random.below(40));
        pixels[i].y = (unsigned char)(y * 3 + random.below(60));
        pixels[i].z = (unsigned char)((x ^ y) + random.below(20));
        pixels[i].w = (unsigned char)random.below(256);
    }
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    TRY(cudaMallocArray(&array, &format, width, height));
    TRY(cudaMemcpy2DToArray(array, 0, 0, pixels.data(), width * sizeof(uchar4), width * sizeof(uchar4),
                              height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.addressMode[0] = cudaAddressModeClamp;
    description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = cudaFilterModePoint;
    description.readMode = cudaReadModeElementType;
    description.normalizedCoords = 0;
    cudaTextureObject_t image = 0;
    TRY(cudaCreateTextureObject(&image, &resource, &description, nullptr));

    unsigned* dLuma = cleared<unsigned>(64);
    unsigned* dDifferences = cleared<unsigned>(64);
    const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    lumaHistogram<<<grid, block>>>(image, width, height, dLuma, dDifferences);
    TRY(cudaGetLastError());
    const std::vector<unsigned> luma = copyOut(dLuma, 64), differences = copyOut(dDifferences, 64);
    std::vector<unsigned> expectedLuma(64, 0), expectedDifferences(64, 0);
    for (int i = 0; i < width * height; ++i) {
        const uchar4 p = pixels[i], q = pixels[i % width == width - 1 ? i : i + 1];
        const int a = (77 * p.x + 150 * p.y + 29 * p.z) >> 8, b = (77 * q.x + 150 * q.y + 29 * q.z) >> 8;
        ++expectedLuma[a >> 2];
        expectedDifferences[abs(a - b) >> 2] += 1 + (p.w & 1);
    }
    printf("pixels %d, digests %08x %08x\n", width * height, hashOf(luma), hashOf(differences));
    printSome("luma", luma, 32);
    printSome("differences", differences, 64);
    TRY(cudaDestroyTextureObject(image));
    TRY(cudaFreeArray(array));
    return conclude(luma == expectedLuma && differences == expectedDifferences);
}
