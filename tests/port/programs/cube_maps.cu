// Texels are 100 face + 10 row + column, of 8 x 8. The face and the place on it are OpenGL's table of
// cube faces (CUDA's programming guide, "Cubemap Textures"): by hand. What that leaves open (equal
// magnitudes, layers that there are not, edges, coordinates that are said not to be normalized) is
// what an H200 gave.
#include <vector>

#include "expect.h"

constexpr int size = 8, faces = 6, cubes = 3;

__global__ void sample(cudaTextureObject_t texture, const float4* at, float* out) {
  out[threadIdx.x] = texCubemap<float>(texture, at[threadIdx.x].x, at[threadIdx.x].y, at[threadIdx.x].z);
}

__global__ void sample_level(cudaTextureObject_t texture, const float4* at, float* out) {
  out[threadIdx.x] = texCubemapLod<float>(texture, at[threadIdx.x].x, at[threadIdx.x].y, at[threadIdx.x].z, 1.5f);
}

__global__ void sample_layer(cudaTextureObject_t texture, const float4* at, float* out) {
  const float4 p = at[threadIdx.x];
  out[threadIdx.x] = texCubemapLayered<float>(texture, p.x, p.y, p.z, static_cast<int>(p.w));
}

// Two handles among the lanes, and a level with a layer: all the words that such an instruction takes.
__global__ void sample_either(const cudaTextureObject_t* textures, const float4* at, float* out) {
  const float4 p = at[threadIdx.x];
  out[threadIdx.x] = texCubemapLayeredLod<float>(textures[threadIdx.x % 2], p.x, p.y, p.z, static_cast<int>(p.w), 0.5f);
}

__global__ void rewrite(cudaSurfaceObject_t surface) {
  float value;
  surfCubemapread(&value, surface, threadIdx.x * static_cast<int>(sizeof(float)), threadIdx.y, blockIdx.x);
  surfCubemapwrite(value + 1000, surface, threadIdx.x * static_cast<int>(sizeof(float)), threadIdx.y, blockIdx.x);
}

struct Sample {
  float4 at;
  float wanted;
};

template <typename Given>
static void expect_samples(void (*kernel)(Given, const float4*, float*), Given given, const std::vector<Sample>& samples) {
  const auto count = static_cast<unsigned>(samples.size());
  std::vector<float4> at;
  for (const auto& each : samples) at.push_back(each.at);
  float4* places;
  float* out;
  std::vector<float> host(count);
  GOOD(cudaMalloc(&places, count * sizeof(float4)));
  GOOD(cudaMalloc(&out, count * sizeof(float)));
  GOOD(cudaMemcpy(places, at.data(), count * sizeof(float4), cudaMemcpyHostToDevice));
  kernel<<<1, count>>>(given, places, out);
  GOOD(cudaMemcpy(host.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
  for (unsigned k = 0; k < count; ++k) {
    if (host[k] == samples[k].wanted) continue;
    std::printf("sample %u: %.9g, not %.9g\n", k, host[k], samples[k].wanted);
    ++failures;
  }
  GOOD(cudaFree(places));
  GOOD(cudaFree(out));
}

static cudaArray_t filled(int slices, unsigned flags) {
  const auto format = cudaCreateChannelDesc<float>();
  const auto extent = make_cudaExtent(size, size, slices);
  std::vector<float> texels;
  for (int slice = 0; slice < slices; ++slice) {
    for (int k = 0; k < size * size; ++k) texels.push_back(static_cast<float>(100 * slice + 10 * (k / size) + k % size));
  }
  cudaArray_t array;
  GOOD(cudaMalloc3DArray(&array, &format, extent, flags));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), size * sizeof(float), size, size);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  GOOD(cudaMemcpy3D(&copy));
  return array;
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
  made.normalizedCoords = 1;
  return made;
}

static cudaTextureObject_t textured(cudaArray_t array, const cudaTextureDesc& description) {
  const auto resource = resource_of(array);
  cudaTextureObject_t made = 0;
  GOOD(cudaCreateTextureObject(&made, &resource, &description, nullptr));
  return made;
}

// Column 0 and row 6, say, on a face: (s, t) = (1/16, 13/16).
static const std::vector<Sample> on_each_face = {
    {{2, -1.25f, 1.75f, 0}, 60},    {{-2, -1.25f, -1.75f, 0}, 160}, {{-1.75f, 2, 1.25f, 0}, 260},
    {{-1.75f, -2, -1.25f, 0}, 360}, {{-1.75f, -1.25f, 2, 0}, 460},  {{1.75f, -1.25f, -2, 0}, 560}};

static void one_cube(cudaArray_t array) {
  const auto point = textured(array, described(cudaFilterModePoint, cudaAddressModeClamp));
  expect_samples(sample, point, on_each_face);
  expect_samples(sample_level, point, on_each_face);
  // Equal magnitudes, on an H200: z before y before x.
  expect_samples(sample, point, {{{1, 1, 1, 0}, 407}, {{-1, 1, -1, 0}, 507}, {{1, -1, 0.5f, 0}, 327},
                                 {{-1, -1, -0.5f, 0}, 360}, {{0.5f, 1, 1, 0}, 406}, {{1, 0.5f, -1, 0}, 520}});
  // Texels' middles are at (2 n + 1) / 16: a quarter between columns 3 and 4, in row 3; beyond the last, the last.
  const auto between = textured(array, described(cudaFilterModeLinear, cudaAddressModeClamp));
  expect_samples(sample, between, {{{1, 0.125f, 0.0625f, 0}, 33.25f}, {{1, 0.125f, -0.96875f, 0}, 37}});
  // At the edge of a face: of a place 1 an H200 takes texel 0 where textures repeat, and nothing with a border.
  const auto repeated = textured(array, described(cudaFilterModePoint, cudaAddressModeWrap));
  expect_samples(sample, repeated, {{{1, 0, -0.99f, 0}, 47}, {{1, -1, 0.9f, 0}, 300}});
  const auto bordered = textured(array, described(cudaFilterModePoint, cudaAddressModeBorder));
  expect_samples(sample, bordered, {{{1, 0, -0.99f, 0}, 47}, {{1, -1, 0.9f, 0}, 0}});
  for (const auto each : {point, between, repeated, bordered}) GOOD(cudaDestroyTextureObject(each));
}

static void descriptions(cudaArray_t array) {
  auto given = described(cudaFilterModePoint, cudaAddressModeWrap);
  given.normalizedCoords = 0;  // an H200 takes no notice
  given.seamlessCubemap = 1;   // nor of the address mode then
  const auto texture = textured(array, given);
  expect_samples(sample, texture, on_each_face);
  expect_samples(sample, texture, {{{1, -1, 0.9f, 0}, 307}});
  cudaTextureDesc kept{};
  GOOD(cudaGetTextureObjectTextureDesc(&kept, texture));
  EXPECT(kept.normalizedCoords == 0 && kept.seamlessCubemap == 1 && kept.addressMode[0] == cudaAddressModeWrap);
  GOOD(cudaDestroyTextureObject(texture));

  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags;
  GOOD(cudaArrayGetInfo(&format, &extent, &flags, array));
  EXPECT(extent.width == size && extent.height == size && extent.depth == faces && (flags & cudaArrayCubemap) != 0);
  EXPECT((flags & cudaArrayLayered) == 0);
  cudaArray_t other;
  for (const auto wrong : {make_cudaExtent(8, 4, 6), make_cudaExtent(8, 8, 5), make_cudaExtent(8, 8, 12)}) {
    EXPECT(cudaMalloc3DArray(&other, &format, wrong, cudaArrayCubemap) == cudaErrorInvalidValue);
  }
  EXPECT(cudaMalloc3DArray(&other, &format, make_cudaExtent(8, 8, 7), cudaArrayCubemap | cudaArrayLayered) == cudaErrorInvalidValue);
}

static void several_cubes() {
  const auto array = filled(faces * cubes, cudaArrayCubemap | cudaArrayLayered);
  cudaTextureObject_t both[2] = {textured(array, described(cudaFilterModePoint, cudaAddressModeClamp)),
                                 textured(array, described(cudaFilterModeLinear, cudaAddressModeClamp))};
  std::vector<Sample> samples;
  for (auto each : on_each_face) {
    each.at.w = static_cast<float>(samples.size() % cubes);
    each.wanted += 100.0f * faces * each.at.w;
    samples.push_back(each);
  }
  expect_samples(sample_layer, both[0], samples);
  // A cube that there is not is the last, on an H200, and so is one before the first.
  expect_samples(sample_layer, both[0], {{{2, -1.25f, 1.75f, 3}, 1260}, {{2, -1.25f, 1.75f, 70000}, 1260}, {{-2, -1.25f, -1.75f, -1}, 1360}});
  cudaTextureObject_t* handles;
  GOOD(cudaMalloc(&handles, sizeof both));
  GOOD(cudaMemcpy(handles, both, sizeof both, cudaMemcpyHostToDevice));
  expect_samples(sample_either, static_cast<const cudaTextureObject_t*>(handles), {{{1, 0.125f, 0.0625f, 1}, 633}, {{1, 0.125f, 0.0625f, 2}, 1233.25f}});
  GOOD(cudaFree(handles));
  for (const auto each : both) GOOD(cudaDestroyTextureObject(each));
  GOOD(cudaFreeArray(array));
}

static void surfaces() {
  const auto array = filled(faces, cudaArrayCubemap | cudaArraySurfaceLoadStore);
  const auto resource = resource_of(array);
  cudaSurfaceObject_t surface;
  GOOD(cudaCreateSurfaceObject(&surface, &resource));
  rewrite<<<faces, dim3(size, size)>>>(surface);
  auto samples = on_each_face;
  for (auto& each : samples) each.wanted += 1000;
  const auto texture = textured(array, described(cudaFilterModePoint, cudaAddressModeClamp));
  expect_samples(sample, texture, samples);
  GOOD(cudaDestroyTextureObject(texture));
  GOOD(cudaDestroySurfaceObject(surface));
  GOOD(cudaFreeArray(array));
}

int main() {
  const auto array = filled(faces, cudaArrayCubemap);
  one_cube(array);
  descriptions(array);
  several_cubes();
  surfaces();
  GOOD(cudaFreeArray(array));
  return failures;
}
