// What is expected of filtering and address modes is the CUDA programming guide's appendix on texture
// fetching, by hand.
#include <cstring>

#include "expect.h"

constexpr int width = 5, height = 3, count = width * height;

__global__ void sample(cudaTextureObject_t texture, const float2* at, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, at[threadIdx.x].x, at[threadIdx.x].y);
}

__global__ void fetch(cudaTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(texture, count - 1 - threadIdx.x);
}

__global__ void mirror(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  float value;
  surf2Dread(&value, from, threadIdx.x * static_cast<int>(sizeof(float)), threadIdx.y);
  surf2Dwrite(2 * value, to, (width - 1 - threadIdx.x) * static_cast<int>(sizeof(float)), threadIdx.y);
}

__global__ void slices(cudaTextureObject_t layers, cudaTextureObject_t volume, float* out) {
  out[threadIdx.x] = tex2DLayered<float>(layers, 1.5f, 0.5f, threadIdx.x);
  out[2 + threadIdx.x] = tex3D<float>(volume, 1.5f, 0.5f, threadIdx.x + 0.5f);
}

__global__ void gather(cudaTextureObject_t texture, float4* out) { *out = tex2Dgather<float4>(texture, 1.0f, 1.0f); }

// The handle of a texture as a texel of another one.
__global__ void through(cudaTextureObject_t handles, const float2* at, float* out) {
  const uint2 words = tex2D<uint2>(handles, threadIdx.x % 2 + 0.5f, 0.5f);
  const auto texture = static_cast<cudaTextureObject_t>(words.y) << 32 | words.x;
  out[threadIdx.x] = tex2DLod<float>(texture, at[threadIdx.x].x, at[threadIdx.x].y, 0.25f * threadIdx.x);
}

static cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc made{};
  made.resType = cudaResourceTypeArray;
  made.res.array.array = array;
  return made;
}

static cudaTextureDesc described(cudaTextureFilterMode filter, cudaTextureAddressMode address) {
  cudaTextureDesc made{};
  made.addressMode[0] = made.addressMode[1] = made.addressMode[2] = address;
  made.filterMode = filter;
  return made;
}

static void expect_samples(cudaTextureObject_t texture, const float2 (&at)[4], const float (&wanted)[4]) {
  float2* places;
  float *out, host[4];
  GOOD(cudaMalloc(&places, sizeof at));
  GOOD(cudaMalloc(&out, sizeof host));
  GOOD(cudaMemcpy(places, at, sizeof at, cudaMemcpyHostToDevice));
  sample<<<1, 4>>>(texture, places, out);
  GOOD(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int k = 0; k < 4; ++k) EXPECT(host[k] == wanted[k]);
  GOOD(cudaFree(places));
  GOOD(cudaFree(out));
}

static void textures(cudaArray_t array) {
  const auto resource = resource_of(array);
  // Texel (x, y) is 10 y + x.
  cudaTextureObject_t point, linear;
  const auto nearest = described(cudaFilterModePoint, cudaAddressModeBorder);
  GOOD(cudaCreateTextureObject(&point, &resource, &nearest, nullptr));
  expect_samples(point, {{0.5f, 0.5f}, {4.9f, 2.9f}, {-0.5f, 0.5f}, {1.0f, 3.5f}}, {0, 24, 0, 0});
  const auto between = described(cudaFilterModeLinear, cudaAddressModeClamp);
  GOOD(cudaCreateTextureObject(&linear, &resource, &between, nullptr));
  expect_samples(linear, {{1.0f, 0.5f}, {2.5f, 1.0f}, {9.0f, 9.0f}, {2.0f, 2.0f}}, {0.5f, 7, 24, 16.5f});

  cudaResourceDesc kept;
  std::memset(&kept, 0xAA, sizeof kept);
  GOOD(cudaGetTextureObjectResourceDesc(&kept, linear));
  EXPECT(kept.resType == cudaResourceTypeArray && kept.res.array.array == array && kept.flags == 0);
  cudaTextureDesc texture;
  std::memset(&texture, 0xAA, sizeof texture);
  GOOD(cudaGetTextureObjectTextureDesc(&texture, linear));
  EXPECT(texture.filterMode == cudaFilterModeLinear && texture.seamlessCubemap == 0);
  GOOD(cudaDestroyTextureObject(point));
  GOOD(cudaDestroyTextureObject(linear));
}

static void handles_in_texels(cudaArray_t array) {
  const auto resource = resource_of(array);
  cudaTextureObject_t inner[2], outer;
  const auto nearest = described(cudaFilterModePoint, cudaAddressModeBorder);
  const auto between = described(cudaFilterModeLinear, cudaAddressModeClamp);
  GOOD(cudaCreateTextureObject(&inner[0], &resource, &nearest, nullptr));
  GOOD(cudaCreateTextureObject(&inner[1], &resource, &between, nullptr));
  const auto format = cudaCreateChannelDesc<uint2>();
  cudaArray_t words;
  GOOD(cudaMallocArray(&words, &format, 2, 1));
  GOOD(cudaMemcpy2DToArray(words, 0, 0, inner, sizeof inner, sizeof inner, 1, cudaMemcpyHostToDevice));
  const auto texels = resource_of(words);
  GOOD(cudaCreateTextureObject(&outer, &texels, &nearest, nullptr));
  const float2 at[4] = {{1.0f, 0.5f}, {1.0f, 0.5f}, {4.9f, 2.9f}, {2.0f, 2.0f}};
  const float wanted[4] = {1, 0.5f, 24, 16.5f};  // even places: the nearest texel
  float2* places;
  float *out, host[4];
  GOOD(cudaMalloc(&places, sizeof at));
  GOOD(cudaMalloc(&out, sizeof host));
  GOOD(cudaMemcpy(places, at, sizeof at, cudaMemcpyHostToDevice));
  through<<<1, 4>>>(outer, places, out);
  GOOD(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int k = 0; k < 4; ++k) EXPECT(host[k] == wanted[k]);
  GOOD(cudaDestroyTextureObject(outer));
  for (const auto texture : inner) GOOD(cudaDestroyTextureObject(texture));
  GOOD(cudaFreeArray(words));
  GOOD(cudaFree(places));
  GOOD(cudaFree(out));
}

static void linear_memory() {
  int host[count], *values, *out;
  for (int k = 0; k < count; ++k) host[k] = 7 * k - 20;
  GOOD(cudaMalloc(&values, sizeof host));
  GOOD(cudaMalloc(&out, sizeof host));
  GOOD(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = values;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = sizeof host;
  const auto plain = described(cudaFilterModePoint, cudaAddressModeClamp);
  cudaTextureObject_t texture;
  GOOD(cudaCreateTextureObject(&texture, &resource, &plain, nullptr));
  fetch<<<1, count>>>(texture, out);
  int back[count];
  GOOD(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  for (int k = 0; k < count; ++k) EXPECT(back[k] == host[count - 1 - k]);
  GOOD(cudaDestroyTextureObject(texture));
  GOOD(cudaFree(values));
  GOOD(cudaFree(out));
}

static void surfaces(cudaArray_t array, const float (&values)[count]) {
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t other, copy;
  GOOD(cudaMallocArray(&other, &format, width, height, cudaArraySurfaceLoadStore));
  GOOD(cudaMallocArray(&copy, &format, width, height));
  const auto source = resource_of(array), target = resource_of(other);
  cudaSurfaceObject_t from, to;
  GOOD(cudaCreateSurfaceObject(&from, &source));
  GOOD(cudaCreateSurfaceObject(&to, &target));
  mirror<<<1, dim3(width, height)>>>(from, to);
  constexpr auto row = width * sizeof(float);
  GOOD(cudaMemcpy2DArrayToArray(copy, 0, 0, other, 0, 0, row, height));
  float back[count];
  GOOD(cudaMemcpy2DFromArray(back, row, copy, 0, 0, row, height, cudaMemcpyDeviceToHost));
  for (int k = 0; k < count; ++k) {
    EXPECT(back[k] == 2 * values[k / width * width + width - 1 - k % width]);
  }
  GOOD(cudaDestroySurfaceObject(from));
  GOOD(cudaDestroySurfaceObject(to));
  GOOD(cudaFreeArray(other));
  GOOD(cudaFreeArray(copy));
}

static void three_dimensions() {
  const auto format = cudaCreateChannelDesc<float>();
  const auto extent = make_cudaExtent(2, 2, 2);
  float values[8] = {0, 1, 2, 3, 4, 5, 6, 7}, *out;
  GOOD(cudaMalloc(&out, 4 * sizeof(float)));
  cudaArray_t arrays[2];
  cudaTextureObject_t objects[2];
  for (int k = 0; k < 2; ++k) {
    GOOD(cudaMalloc3DArray(&arrays[k], &format, extent, k == 0 ? cudaArrayLayered : cudaArrayDefault));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(values, 2 * sizeof(float), 2, 2);
    copy.dstArray = arrays[k];
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    GOOD(cudaMemcpy3D(&copy));
    const auto resource = resource_of(arrays[k]);
    const auto plain = described(cudaFilterModePoint, cudaAddressModeClamp);
    GOOD(cudaCreateTextureObject(&objects[k], &resource, &plain, nullptr));
  }
  slices<<<1, 2>>>(objects[0], objects[1], out);
  float back[4];
  GOOD(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 1 && back[1] == 5 && back[2] == 1 && back[3] == 5);
  for (int k = 0; k < 2; ++k) {
    GOOD(cudaDestroyTextureObject(objects[k]));
    GOOD(cudaFreeArray(arrays[k]));
  }
  GOOD(cudaFree(out));
}

// The four texels that filtering at (1, 1) would use, against the clock from the lower left one.
static void gathers() {
  const auto format = cudaCreateChannelDesc<float>();
  const float values[6] = {0, 1, 2, 10, 11, 12};
  cudaArray_t array;
  GOOD(cudaMallocArray(&array, &format, 3, 2, cudaArrayTextureGather));
  constexpr auto row = 3 * sizeof(float);
  GOOD(cudaMemcpy2DToArray(array, 0, 0, values, row, row, 2, cudaMemcpyHostToDevice));
  cudaExtent extent;
  unsigned flags = 0;
  cudaChannelFormatDesc found;
  GOOD(cudaArrayGetInfo(&found, &extent, &flags, array));
  EXPECT(flags == cudaArrayTextureGather);
  const auto resource = resource_of(array);
  const auto plain = described(cudaFilterModePoint, cudaAddressModeClamp);
  cudaTextureObject_t texture;
  GOOD(cudaCreateTextureObject(&texture, &resource, &plain, nullptr));
  float4 *out, texels{};
  GOOD(cudaMalloc(&out, sizeof texels));
  gather<<<1, 1>>>(texture, out);
  GOOD(cudaMemcpy(&texels, out, sizeof texels, cudaMemcpyDeviceToHost));
  EXPECT(texels.x == 10 && texels.y == 11 && texels.z == 1 && texels.w == 0);
  GOOD(cudaDestroyTextureObject(texture));
  GOOD(cudaFreeArray(array));
  GOOD(cudaFree(out));
}

int main() {
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  GOOD(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  float values[count];
  for (int k = 0; k < count; ++k) values[k] = static_cast<float>(10 * (k / width) + k % width);
  constexpr auto row = width * sizeof(float);
  GOOD(cudaMemcpy2DToArray(array, 0, 0, values, row, row, height, cudaMemcpyHostToDevice));
  cudaChannelFormatDesc found;
  cudaExtent extent;
  unsigned flags;
  GOOD(cudaArrayGetInfo(&found, &extent, &flags, array));
  EXPECT(found.x == 32 && found.y == 0 && found.f == cudaChannelFormatKindFloat);
  EXPECT(extent.width == width && extent.height == height && extent.depth == 0);
  EXPECT(flags == cudaArraySurfaceLoadStore);
  textures(array);
  handles_in_texels(array);
  linear_memory();
  surfaces(array, values);
  three_dimensions();
  gathers();
  GOOD(cudaFreeArray(array));
  return failures;
}
