// Textures and surfaces against values worked out by hand from the CUDA C++ programming guide's
// rules ("Texture Fetching"): nearest texel floor(x), linear weights of 8 bits at x - 0.5.
#include <hip/hip_runtime.h>

#include <vector>

#include "expect.hpp"

namespace {

constexpr int wide = 8, high = 4, deep = 3;

hipTextureDesc description(hipTextureAddressMode mode, hipTextureFilterMode filter, bool normalised,
                           hipTextureReadMode read = hipReadModeElementType) {
  hipTextureDesc result = {};
  for (auto& each : result.addressMode) each = mode;
  result.filterMode = filter;
  result.readMode = read;
  result.normalizedCoords = normalised;
  return result;
}

hipTextureObject_t texture_of(hipArray_t array, const hipTextureDesc& texture) {
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  hipTextureObject_t object = nullptr;
  OK(hipCreateTextureObject(&object, &resource, &texture, nullptr));
  return object;
}

hipSurfaceObject_t surface_of(hipArray_t array) {
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  hipSurfaceObject_t object = nullptr;
  OK(hipCreateSurfaceObject(&object, &resource));
  return object;
}

__global__ void at_points(hipTextureObject_t texture, const float2* points, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, points[threadIdx.x].x, points[threadIdx.x].y);
}

void check(hipTextureObject_t texture, const std::vector<float2>& points,
           const std::vector<float>& expected) {
  float2* places = nullptr;
  float* results = nullptr;
  OK(hipMallocManaged(&places, points.size() * sizeof(float2)));
  OK(hipMallocManaged(&results, points.size() * sizeof(float)));
  for (std::size_t i = 0; i < points.size(); ++i) places[i] = points[i];
  at_points<<<1, points.size()>>>(texture, places, results);
  OK(hipDeviceSynchronize());
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT(results[i] == expected[i]);
  OK(hipFree(places));
  OK(hipFree(results));
  OK(hipDestroyTextureObject(texture));
}

// Texel (x, y) is 10 y + x.
void two_dimensions() {
  std::vector<float> pixels;
  for (int y = 0; y < high; ++y) {
    for (int x = 0; x < wide; ++x) pixels.push_back(static_cast<float>(10 * y + x));
  }
  hipArray_t array = nullptr;
  const auto format = hipCreateChannelDesc<float>();
  OK(hipMallocArray(&array, &format, wide, high));
  OK(hipMemcpy2DToArray(array, 0, 0, pixels.data(), wide * 4, wide * 4, high,
                        hipMemcpyHostToDevice));
  const auto point = hipFilterModePoint, linear = hipFilterModeLinear;
  check(texture_of(array, description(hipAddressModeClamp, point, false)),
        {{0.5F, 0.5F}, {2.999F, 1.0F}, {-3.0F, 2.5F}, {100.0F, 100.0F}}, {0, 12, 20, 37});
  check(texture_of(array, description(hipAddressModeBorder, point, false)),
        {{7.5F, 3.5F}, {8.0F, 0.5F}, {-0.5F, 0.5F}}, {37, 0, 0});
  check(texture_of(array, description(hipAddressModeWrap, point, true)),
        {{0.5F / 8, 0.5F / 4}, {1 + 2.5F / 8, 2 + 1.5F / 4}, {-0.5F / 8, -0.5F / 4}}, {0, 12, 37});
  check(texture_of(array, description(hipAddressModeMirror, point, true)),
        {{1 + 0.5F / 8, 0.5F / 4}, {-2.5F / 8, 1.5F / 4}, {2 + 1.5F / 8, 1 + 1.5F / 4}},
        {7, 12, 21});
  // Linear: halfway between texels; a weight of 1/256; beyond the edge; against the border.
  check(texture_of(array, description(hipAddressModeClamp, linear, false)),
        {{1.0F, 0.5F}, {1.0F, 1.0F}, {0.5F + 1.0F / 256, 0.5F}, {-5.0F, 0.5F}, {2.75F, 3.25F}},
        {0.5F, 5.5F, 1.0F / 256, 0, 29.75F});
  check(texture_of(array, description(hipAddressModeBorder, linear, false)),
        {{8.0F, 0.5F}, {0.5F, 4.0F}}, {3.5F, 15});
  check(texture_of(array, description(hipAddressModeWrap, linear, true)), {{0, 0.5F / 4}}, {3.5F});
  OK(hipFreeArray(array));
}

__global__ void read_all(hipTextureObject_t cube, hipTextureObject_t layers,
                         hipTextureObject_t rows, float* out) {
  out[0] = tex3D<float>(cube, 2.5F, 1.5F, 2.5F);
  out[1] = tex3D<float>(cube, 3.0F, 2.0F, 1.0F);
  out[2] = tex2DLayered<float>(layers, 4.5F, 2.5F, 1);
  out[3] = tex2DLayered<float>(layers, 4.5F, 2.5F, 9);
  out[4] = tex1DLayered<float>(rows, 5.5F, 2);
  out[5] = tex2DLod<float>(layers, 0.5F, 0.5F, 0);
  // HIP counts components from 1 here: 0 is alpha.
  const float4 corners = tex2Dgather<float4>(layers, 3.0F, 2.0F, 1);
  out[6] = corners.x;
  out[7] = corners.y;
  out[8] = corners.z;
  out[9] = corners.w;
}

// Texel (x, y, z) is 100 z + 10 y + x.
void three_dimensions() {
  std::vector<float> pixels;
  for (int z = 0; z < deep; ++z) {
    for (int y = 0; y < high; ++y) {
      for (int x = 0; x < wide; ++x) pixels.push_back(static_cast<float>(100 * z + 10 * y + x));
    }
  }
  const auto format = hipCreateChannelDesc<float>();
  hipArray_t cube = nullptr, layers = nullptr, rows = nullptr;
  OK(hipMalloc3DArray(&cube, &format, make_hipExtent(wide, high, deep), 0));
  OK(hipMalloc3DArray(&layers, &format, make_hipExtent(wide, high, deep), hipArrayLayered));
  OK(hipMalloc3DArray(&rows, &format, make_hipExtent(wide, 0, deep), hipArrayLayered));
  hipMemcpy3DParms copy = {};
  copy.srcPtr = make_hipPitchedPtr(pixels.data(), wide * 4, wide, high);
  copy.dstArray = cube;
  copy.extent = make_hipExtent(wide, high, deep);
  copy.kind = hipMemcpyHostToDevice;
  OK(hipMemcpy3D(&copy));
  copy.dstArray = layers;
  OK(hipMemcpy3D(&copy));
  copy.dstArray = rows;
  copy.extent = make_hipExtent(wide, 1, deep);
  OK(hipMemcpy3D(&copy));
  float* out = nullptr;
  OK(hipMallocManaged(&out, 10 * sizeof(float)));
  const auto linear =
      texture_of(cube, description(hipAddressModeClamp, hipFilterModeLinear, false));
  const auto layered =
      texture_of(layers, description(hipAddressModeClamp, hipFilterModePoint, false));
  const auto lined = texture_of(rows, description(hipAddressModeClamp, hipFilterModePoint, false));
  read_all<<<1, 1>>>(linear, layered, lined, out);
  OK(hipDeviceSynchronize());
  EXPECT(out[0] == 212.0F);
  EXPECT(out[1] == 67.5F);  // the mean of eight texels around (2.5, 1.5, 0.5)
  EXPECT(out[2] == 124.0F);
  EXPECT(out[3] == 224.0F);  // the layer is clamped
  EXPECT(out[4] == 205.0F);
  EXPECT(out[5] == 0.0F);
  EXPECT(out[6] == 22.0F);
  EXPECT(out[7] == 23.0F);
  EXPECT(out[8] == 13.0F);
  EXPECT(out[9] == 12.0F);
  for (const auto each : {linear, layered, lined}) OK(hipDestroyTextureObject(each));
  for (const auto each : {cube, layers, rows}) OK(hipFreeArray(each));
  OK(hipFree(out));
}

__global__ void fetch(hipTextureObject_t integers, hipTextureObject_t fractions, int* out,
                      float4* values) {
  out[threadIdx.x] = tex1Dfetch<int>(integers, static_cast<int>(threadIdx.x));
  values[threadIdx.x] = tex1Dfetch<float4>(fractions, static_cast<int>(threadIdx.x));
}

void linear_memory() {
  constexpr int count = 40;
  int *integers = nullptr, *out = nullptr;
  char4* bytes = nullptr;
  float4* values = nullptr;
  OK(hipMallocManaged(&integers, count * sizeof(int)));
  OK(hipMallocManaged(&bytes, count * sizeof(char4)));
  OK(hipMallocManaged(&out, 64 * sizeof(int)));
  OK(hipMallocManaged(&values, 64 * sizeof(float4)));
  for (int i = 0; i < count; ++i) {
    integers[i] = 3 * i - 50;
    bytes[i] = make_char4(127, -128, 0, static_cast<char>(-127));
  }
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear.devPtr = integers;
  resource.res.linear.desc = hipCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = count * sizeof(int);
  auto texture = description(hipAddressModeClamp, hipFilterModePoint, false);
  hipTextureObject_t first = nullptr, second = nullptr;
  OK(hipCreateTextureObject(&first, &resource, &texture, nullptr));
  resource.res.linear.devPtr = bytes;
  resource.res.linear.desc = hipCreateChannelDesc<char4>();
  texture.readMode = hipReadModeNormalizedFloat;
  OK(hipCreateTextureObject(&second, &resource, &texture, nullptr));
  fetch<<<1, 64>>>(first, second, out, values);
  OK(hipDeviceSynchronize());
  for (int i = 0; i < 64; ++i) EXPECT(out[i] == (i < count ? 3 * i - 50 : 0));
  EXPECT(values[3].x == 1.0F);
  EXPECT(values[3].y == -1.0F);
  EXPECT(values[3].z == 0.0F);
  EXPECT(values[3].w == -1.0F);
  hipResourceDesc found = {};
  OK(hipGetTextureObjectResourceDesc(&found, second));
  EXPECT(found.res.linear.devPtr == bytes);
  OK(hipDestroyTextureObject(first));
  OK(hipDestroyTextureObject(second));
  EXPECT_HIP(hipErrorInvalidValue, hipDestroyTextureObject(second));
  for (void* each : {static_cast<void*>(integers), static_cast<void*>(bytes),
                     static_cast<void*>(out), static_cast<void*>(values)}) {
    OK(hipFree(each));
  }
}

void pitched_memory() {
  std::size_t pitch = 0;
  float* image = nullptr;
  OK(hipMallocPitch(reinterpret_cast<void**>(&image), &pitch, 5 * sizeof(float), 3));
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 5; ++x) {
      const float value = static_cast<float>(y * 5 + x);
      OK(hipMemcpy(image + static_cast<std::size_t>(y) * pitch / 4 + x, &value, 4,
                   hipMemcpyHostToDevice));
    }
  }
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D.devPtr = image;
  resource.res.pitch2D.desc = hipCreateChannelDesc<float>();
  resource.res.pitch2D.width = 5;
  resource.res.pitch2D.height = 3;
  resource.res.pitch2D.pitchInBytes = pitch;
  const auto texture = description(hipAddressModeClamp, hipFilterModePoint, false);
  hipTextureObject_t object = nullptr;
  OK(hipCreateTextureObject(&object, &resource, &texture, nullptr));
  check(object, {{4.5F, 0.5F}, {0.5F, 2.5F}, {9.0F, 9.0F}}, {4, 10, 14});
  OK(hipFree(image));
}

__global__ void scatter(hipSurfaceObject_t line, hipSurfaceObject_t plane,
                        hipSurfaceObject_t cube) {
  const int x = static_cast<int>(threadIdx.x);
  surf1Dwrite(static_cast<unsigned char>(x + 1), line, x);
  surf2Dwrite(make_short2(static_cast<short>(-x), 7), plane, x * 4, 1);
  surf2Dwrite(make_short2(1, 1), plane, x * 4, 50);  // outside: dropped
  float old = 0;
  surf3Dread(&old, cube, x * 4, 1, 0);
  surf3Dwrite(old + static_cast<float>(x), cube, x * 4, 2, 1);
}

void surfaces() {
  hipArray_t line = nullptr, plane = nullptr, cube = nullptr;
  const auto byte = hipCreateChannelDesc<unsigned char>(), pair = hipCreateChannelDesc<short2>();
  const auto single = hipCreateChannelDesc<float>();
  OK(hipMallocArray(&line, &byte, wide, 0, hipArraySurfaceLoadStore));
  OK(hipMallocArray(&plane, &pair, wide, high, hipArraySurfaceLoadStore));
  OK(hipMalloc3DArray(&cube, &single, make_hipExtent(wide, high, deep), hipArraySurfaceLoadStore));
  std::vector<float> half(static_cast<std::size_t>(wide * high * deep), 0.5F);
  hipMemcpy3DParms copy = {};
  copy.srcPtr = make_hipPitchedPtr(half.data(), wide * 4, wide, high);
  copy.dstArray = cube;
  copy.extent = make_hipExtent(wide, high, deep);
  copy.kind = hipMemcpyHostToDevice;
  OK(hipMemcpy3D(&copy));
  const auto one = surface_of(line), two = surface_of(plane), three = surface_of(cube);
  scatter<<<1, wide>>>(one, two, three);
  OK(hipDeviceSynchronize());
  unsigned char bytes[wide] = {};
  short pairs[high][wide][2] = {};
  OK(hipMemcpy2DFromArray(bytes, wide, line, 0, 0, wide, 1, hipMemcpyDeviceToHost));
  OK(hipMemcpy2DFromArray(pairs, wide * 4, plane, 0, 0, wide * 4, high, hipMemcpyDeviceToHost));
  copy = {};
  copy.srcArray = cube;
  copy.dstPtr = make_hipPitchedPtr(half.data(), wide * 4, wide, high);
  copy.extent = make_hipExtent(wide, high, deep);
  copy.kind = hipMemcpyDeviceToHost;
  OK(hipMemcpy3D(&copy));
  for (int x = 0; x < wide; ++x) {
    EXPECT(int{bytes[x]} == x + 1);
    EXPECT(int{pairs[1][x][0]} == -x);
    EXPECT(int{pairs[1][x][1]} == 7);
    EXPECT(half[static_cast<std::size_t>((1 * high + 2) * wide + x)] ==
           0.5F + static_cast<float>(x));
  }
  for (const auto each : {one, two, three}) OK(hipDestroySurfaceObject(each));
  for (const auto each : {line, plane, cube}) OK(hipFreeArray(each));
}

void refused() {
  hipArray_t array = nullptr;
  const auto format = hipCreateChannelDesc<int>();
  OK(hipMallocArray(&array, &format, wide, high));
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  hipTextureObject_t object = nullptr;
  // Integers have no values between texels.
  const auto linear = description(hipAddressModeClamp, hipFilterModeLinear, false);
  EXPECT_HIP(hipErrorInvalidValue, hipCreateTextureObject(&object, &resource, &linear, nullptr));
  EXPECT_HIP(hipErrorInvalidValue, hipCreateTextureObject(nullptr, &resource, &linear, nullptr));
  OK(hipFreeArray(array));
  EXPECT_HIP(hipErrorInvalidValue, hipCreateTextureObject(&object, &resource, &linear, nullptr));
}

}  // namespace

int main() {
  two_dimensions();
  three_dimensions();
  linear_memory();
  pitched_memory();
  surfaces();
  refused();
  return report();
}
