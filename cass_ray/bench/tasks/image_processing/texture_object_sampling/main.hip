// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

// Three address modes at coordinates that leave the image.
__global__ void sample(hipTextureObject_t clamped, hipTextureObject_t bordered, hipTextureObject_t wrapped, int width, int height, uint32_t* out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float u = (float)(2 * x - width / 2) + 0.5f, v = (float)(2 * y - height / 2) + 0.5f;
    const uint32_t a = tex2D<uint32_t>(clamped, u, v);
    const uint32_t b = tex2D<uint32_t>(bordered, u, v);
    // Powers of two divide exactly: 64 texels in each direction.
    const uint32_t c = tex2D<uint32_t>(wrapped, (float)(x * 3 + 70) / 64.0f + 0.0078125f, (float)(y * 5 - 90) / 64.0f + 0.0078125f);
    out[y * width + x] = a * 3u + b * 5u + c * 7u;
}

__global__ void normalised(hipTextureObject_t bytes, int width, int height, int* out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float4 p = tex2D<float4>(bytes, (float)x + 0.5f, (float)y + 0.5f);
    out[y * width + x] = (int)(p.x * 255.0f + 0.5f) + 256 * (int)(p.y * 255.0f + 0.5f) + 65536 * (int)(p.z * 255.0f + 0.5f);
}

__global__ void paint(hipSurfaceObject_t surface, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    uint32_t old;
    surf2Dread(&old, surface, x * (int)sizeof(uint32_t), y);
    surf2Dwrite(old * 2654435761u + (uint32_t)(x ^ y), surface, x * (int)sizeof(uint32_t), y);
}

static hipTextureObject_t textureOf(hipArray_t array, hipTextureAddressMode mode, bool normalisedCoordinates, hipTextureReadMode read)
{
    hipResourceDesc resource = {};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    hipTextureDesc texture = {};
    texture.addressMode[0] = mode;
    texture.addressMode[1] = mode;
    texture.filterMode = hipFilterModePoint;
    texture.readMode = read;
    texture.normalizedCoords = normalisedCoordinates;
    hipTextureObject_t object = 0;
    CK(hipCreateTextureObject(&object, &resource, &texture, nullptr));
    return object;
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 50, height = argc > 2 ? atoi(argv[2]) : 40;
    uint32_t s = argc > 3 ? (uint32_t)atoi(argv[3]) : 4u;
    if (width < 2 || height < 2) return 1;
    const int n = width * height;
    std::vector<uint32_t> image(n), square(64 * 64), out(n);
    std::vector<uchar4> colours(n);
    auto next = [&s]() { s = s * 1664525u + 1013904223u; return s; };
    for (uint32_t& v : image) v = next() >> 4;
    for (uint32_t& v : square) v = next() >> 4;
    for (int i = 0; i < n; ++i) {
        const uint32_t v = next();
        colours[i] = make_uchar4((unsigned char)(v >> 24), (unsigned char)(v >> 16), (unsigned char)(v >> 8), 255);
    }
    hipArray_t array, squareArray, colourArray;
    const hipChannelFormatDesc word = hipCreateChannelDesc<unsigned int>(), rgba = hipCreateChannelDesc<uchar4>();
    CK(hipMallocArray(&array, &word, width, height, hipArraySurfaceLoadStore));
    CK(hipMallocArray(&squareArray, &word, 64, 64));
    CK(hipMallocArray(&colourArray, &rgba, width, height));
    CK(hipMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height, hipMemcpyHostToDevice));
    CK(hipMemcpy2DToArray(squareArray, 0, 0, square.data(), 256, 256, 64, hipMemcpyHostToDevice));
    CK(hipMemcpy2DToArray(colourArray, 0, 0, colours.data(), width * 4, width * 4, height, hipMemcpyHostToDevice));
    const hipTextureObject_t clamped = textureOf(array, hipAddressModeClamp, false, hipReadModeElementType);
    const hipTextureObject_t bordered = textureOf(array, hipAddressModeBorder, false, hipReadModeElementType);
    const hipTextureObject_t wrapped = textureOf(squareArray, hipAddressModeWrap, true, hipReadModeElementType);
    const hipTextureObject_t bytes = textureOf(colourArray, hipAddressModeClamp, false, hipReadModeNormalizedFloat);
    uint32_t* dout;
    int* dc;
    CK(hipMalloc(&dout, n * 4));
    CK(hipMalloc(&dc, n * sizeof(int)));
    const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    sample<<<grid, block>>>(clamped, bordered, wrapped, width, height, dout);
    normalised<<<grid, block>>>(bytes, width, height, dc);
    CK(hipGetLastError());
    std::vector<int> c(n);
    CK(hipMemcpy(out.data(), dout, n * 4, hipMemcpyDeviceToHost));
    CK(hipMemcpy(c.data(), dc, n * sizeof(int), hipMemcpyDeviceToHost));
    hipResourceDesc resource = {};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    hipSurfaceObject_t surface = 0;
    CK(hipCreateSurfaceObject(&surface, &resource));
    paint<<<grid, block>>>(surface, width, height);
    CK(hipGetLastError());
    CK(hipDeviceSynchronize());
    std::vector<uint32_t> painted(n);
    CK(hipMemcpy2DFromArray(painted.data(), width * 4, array, 0, 0, width * 4, height, hipMemcpyDeviceToHost));
    int wrong[3] = {0, 0, 0};
    uint32_t folds[3] = {0, 0, 0};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const int i = y * width + x, u = 2 * x - width / 2, v = 2 * y - height / 2;
            const bool inside = u >= 0 && v >= 0 && u < width && v < height;
            const int cu = u < 0 ? 0 : u >= width ? width - 1 : u, cv = v < 0 ? 0 : v >= height ? height - 1 : v;
            const uint32_t a = image[cv * width + cu], b = inside ? image[v * width + u] : 0u;
            const uint32_t w = square[((y * 5 - 90) & 63) * 64 + ((x * 3 + 70) & 63)];
            wrong[0] += out[i] != a * 3u + b * 5u + w * 7u;
            wrong[1] += c[i] != colours[i].x + 256 * colours[i].y + 65536 * colours[i].z;
            wrong[2] += painted[i] != image[i] * 2654435761u + (uint32_t)(x ^ y);
            folds[0] = folds[0] * 31u + out[i];
            folds[1] = folds[1] * 31u + (uint32_t)c[i];
            folds[2] = folds[2] * 31u + painted[i];
        }
    static const char* names[3] = { "sampled", "normalised", "painted" };
    for (int k = 0; k < 3; ++k) printf("%-10s fold %08x wrong %d\n", names[k], folds[k], wrong[k]);
    CK(hipDestroySurfaceObject(surface));
    CK(hipDestroyTextureObject(clamped));
    CK(hipDestroyTextureObject(bordered));
    CK(hipDestroyTextureObject(wrapped));
    CK(hipDestroyTextureObject(bytes));
    CK(hipFreeArray(array));
    CK(hipFreeArray(squareArray));
    CK(hipFreeArray(colourArray));
    CK(hipFree(dout));
    CK(hipFree(dc));
    return wrong[0] || wrong[1] || wrong[2];
}
