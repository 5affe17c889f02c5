// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "CUDA failure %d at line %d: %s\n", (int)e_, __LINE__, cudaGetErrorString(e_)); \
    exit(3); } } while (0)

// Three address modes at coordinates that leave the image.
__global__ void sample(cudaTextureObject_t clamped, cudaTextureObject_t bordered, cudaTextureObject_t wrapped, int width, int height, uint32_t* out)
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

__global__ void normalised(cudaTextureObject_t bytes, int width, int height, int* out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float4 p = tex2D<float4>(bytes, (float)x + 0.5f, (float)y + 0.5f);
    out[y * width + x] = (int)(p.x * 255.0f + 0.5f) + 256 * (int)(p.y * 255.0f + 0.5f) + 65536 * (int)(p.z * 255.0f + 0.5f);
}

__global__ void paint(cudaSurfaceObject_t surface, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    uint32_t old;
    surf2Dread(&old, surface, x * (int)sizeof(uint32_t), y);
    surf2Dwrite(old * 2654435761u + (uint32_t)(x ^ y), surface, x * (int)sizeof(uint32_t), y);
}

static cudaTextureObject_t textureOf(cudaArray_t array, cudaTextureAddressMode mode, bool normalisedCoordinates, cudaTextureReadMode read)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc texture = {};
    texture.addressMode[0] = mode;
    texture.addressMode[1] = mode;
    texture.filterMode = cudaFilterModePoint;
    texture.readMode = read;
    texture.normalizedCoords = normalisedCoordinates;
    cudaTextureObject_t object = 0;
    CK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
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
    cudaArray_t array, squareArray, colourArray;
    const cudaChannelFormatDesc word = cudaCreateChannelDesc<unsigned int>(), rgba = cudaCreateChannelDesc<uchar4>();
    CK(cudaMallocArray(&array, &word, width, height, cudaArraySurfaceLoadStore));
    CK(cudaMallocArray(&squareArray, &word, 64, 64));
    CK(cudaMallocArray(&colourArray, &rgba, width, height));
    CK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    CK(cudaMemcpy2DToArray(squareArray, 0, 0, square.data(), 256, 256, 64, cudaMemcpyHostToDevice));
    CK(cudaMemcpy2DToArray(colourArray, 0, 0, colours.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    const cudaTextureObject_t clamped = textureOf(array, cudaAddressModeClamp, false, cudaReadModeElementType);
    const cudaTextureObject_t bordered = textureOf(array, cudaAddressModeBorder, false, cudaReadModeElementType);
    const cudaTextureObject_t wrapped = textureOf(squareArray, cudaAddressModeWrap, true, cudaReadModeElementType);
    const cudaTextureObject_t bytes = textureOf(colourArray, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat);
    uint32_t* dout;
    int* dc;
    CK(cudaMalloc(&dout, n * 4));
    CK(cudaMalloc(&dc, n * sizeof(int)));
    const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    sample<<<grid, block>>>(clamped, bordered, wrapped, width, height, dout);
    normalised<<<grid, block>>>(bytes, width, height, dc);
    CK(cudaGetLastError());
    std::vector<int> c(n);
    CK(cudaMemcpy(out.data(), dout, n * 4, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(c.data(), dc, n * sizeof(int), cudaMemcpyDeviceToHost));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface = 0;
    CK(cudaCreateSurfaceObject(&surface, &resource));
    paint<<<grid, block>>>(surface, width, height);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    std::vector<uint32_t> painted(n);
    CK(cudaMemcpy2DFromArray(painted.data(), width * 4, array, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
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
    CK(cudaDestroySurfaceObject(surface));
    CK(cudaDestroyTextureObject(clamped));
    CK(cudaDestroyTextureObject(bordered));
    CK(cudaDestroyTextureObject(wrapped));
    CK(cudaDestroyTextureObject(bytes));
    CK(cudaFreeArray(array));
    CK(cudaFreeArray(squareArray));
    CK(cudaFreeArray(colourArray));
    CK(cudaFree(dout));
    CK(cudaFree(dc));
    return wrong[0] || wrong[1] || wrong[2];
}
