// Arrays, copies, objects and surfaces, one value at a time; what is expected is by hand from the CUDA
// Runtime API's reference and the C++ Programming Guide. Texel (x, y, z) is 100 z + 10 y + x.
#include <cstdio>
#include <cstring>
#include <vector>

#include "expect.h"

constexpr int wide = 7, high = 4, deep = 3;

static std::vector<float> numbers(int slices) {
  std::vector<float> made;
  for (int z = 0; z < slices; ++z) {
    for (int y = 0; y < high; ++y) {
      for (int x = 0; x < wide; ++x) made.push_back(static_cast<float>(100 * z + 10 * y + x));
    }
  }
  return made;
}

static cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc made{};
  made.resType = cudaResourceTypeArray;
  made.res.array.array = array;
  return made;
}

template <typename T> static cudaArray_t array_of(int width, int height, int depth, unsigned flags = 0) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaArray_t made;
  GOOD(cudaMalloc3DArray(&made, &format, make_cudaExtent(width, height, depth), flags));
  return made;
}

static void fill(cudaArray_t array, std::vector<float>& from, int slices) {
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(from.data(), wide * sizeof(float), wide, high);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(wide, high, slices);
  copy.kind = cudaMemcpyHostToDevice;
  GOOD(cudaMemcpy3D(&copy));
}

static void copies() {
  constexpr size_t row = wide * sizeof(float);
  std::vector<float> from = numbers(deep);
  cudaArray_t plane = array_of<float>(wide, high, 0), other = array_of<float>(wide, high, 0);
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags = 9;
  GOOD(cudaArrayGetInfo(&format, &extent, &flags, plane));
  EXPECT(format.x == 32 && format.y == 0 && format.f == cudaChannelFormatKindFloat && flags == 0);
  EXPECT(extent.width == wide && extent.height == high && extent.depth == 0);
  GOOD(cudaMemcpy2DToArray(plane, 0, 0, from.data(), row, row, high, cudaMemcpyHostToDevice));
  // Columns 2 to 4 of rows 1 and 2, there and back.
  float part[2][3] = {};
  GOOD(cudaMemcpy2DFromArray(part, 12, plane, 8, 1, 12, 2, cudaMemcpyDeviceToHost));
  EXPECT(part[0][0] == 12 && part[0][2] == 14 && part[1][0] == 22 && part[1][2] == 24);
  cudaStream_t stream;
  GOOD(cudaStreamCreate(&stream));
  GOOD(cudaMemcpy2DToArrayAsync(other, 0, 0, from.data(), row, row, high, cudaMemcpyHostToDevice, stream));
  GOOD(cudaMemcpy2DToArrayAsync(other, 4, 2, part, 12, 12, 2, cudaMemcpyHostToDevice, stream));
  float back[high][wide];
  GOOD(cudaMemcpy2DFromArrayAsync(back, row, other, 0, 0, row, high, cudaMemcpyDeviceToHost, stream));
  GOOD(cudaStreamSynchronize(stream));
  EXPECT(back[1][1] == 11 && back[2][0] == 20 && back[2][1] == 12 && back[3][3] == 24 && back[3][4] == 34);
  GOOD(cudaMemcpy2DArrayToArray(plane, 8, 0, other, 4, 2, 12, 2, cudaMemcpyDeviceToDevice));
  GOOD(cudaMemcpy2DFromArray(back, row, plane, 0, 0, row, high, cudaMemcpyDeviceToHost));
  EXPECT(back[0][1] == 1 && back[0][2] == 12 && back[1][4] == 24 && back[1][5] == 15);
  // Nothing is copied where it does not fit.
  EXPECT(cudaMemcpy2DToArray(plane, 4, 0, from.data(), row, row, 1, cudaMemcpyHostToDevice) != cudaSuccess);
  EXPECT(cudaMemcpy2DToArray(plane, 0, 3, from.data(), row, row, 2, cudaMemcpyHostToDevice) != cudaSuccess);
  // A box of a volume to a place in another one, and out again.
  cudaArray_t volume = array_of<float>(wide, high, deep), second = array_of<float>(wide, high, deep);
  fill(volume, from, deep);
  fill(second, from, deep);
  cudaMemcpy3DParms box{};
  box.srcArray = volume;
  box.srcPos = make_cudaPos(1, 1, 0);
  box.dstArray = second;
  box.dstPos = make_cudaPos(3, 0, 1);
  box.extent = make_cudaExtent(2, 2, 2);
  box.kind = cudaMemcpyDeviceToDevice;
  GOOD(cudaMemcpy3D(&box));
  float all[deep][high][wide];
  cudaMemcpy3DParms out{};
  out.srcArray = second;
  out.dstPtr = make_cudaPitchedPtr(all, row, wide, high);
  out.extent = make_cudaExtent(wide, high, deep);
  out.kind = cudaMemcpyDeviceToHost;
  GOOD(cudaMemcpy3DAsync(&out, stream));
  GOOD(cudaStreamSynchronize(stream));
  EXPECT(all[1][0][3] == 11 && all[1][1][4] == 22 && all[2][0][3] == 111 && all[2][1][4] == 122);
  EXPECT(all[1][0][2] == 102 && all[1][0][5] == 105 && all[0][0][3] == 3 && all[1][2][3] == 123);
  box.dstPos = make_cudaPos(6, 0, 1);
  EXPECT(cudaMemcpy3D(&box) != cudaSuccess);
  GOOD(cudaStreamDestroy(stream));
  for (cudaArray_t each : {plane, other, volume, second}) GOOD(cudaFreeArray(each));
}

__global__ void linear(cudaTextureObject_t ints, cudaTextureObject_t bytes, int* out, float4* fractions) {
  const int x = static_cast<int>(threadIdx.x) - 2;
  out[threadIdx.x] = tex1Dfetch<int>(ints, x);
  tex1Dfetch(&fractions[threadIdx.x], bytes, x);
}

static void linear_memory() {
  int numbers[5] = {7, -8, 9, -10, 11}, *ints, *out, host[8];
  const signed char four[4] = {127, -128, -127, 64};
  signed char* bytes;
  float4 *fractions, found[8];
  GOOD(cudaMalloc(&ints, sizeof numbers));
  GOOD(cudaMalloc(&out, sizeof host));
  GOOD(cudaMalloc(&bytes, 4));
  GOOD(cudaMalloc(&fractions, sizeof found));
  GOOD(cudaMemcpy(ints, numbers, sizeof numbers, cudaMemcpyHostToDevice));
  GOOD(cudaMemcpy(bytes, four, 4, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = ints;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = sizeof numbers;
  cudaTextureDesc plain{};
  cudaTextureObject_t first, second;
  GOOD(cudaCreateTextureObject(&first, &resource, &plain, nullptr));
  resource.res.linear.devPtr = bytes;
  resource.res.linear.desc = cudaCreateChannelDesc<char4>();
  resource.res.linear.sizeInBytes = 4;
  plain.readMode = cudaReadModeNormalizedFloat;
  GOOD(cudaCreateTextureObject(&second, &resource, &plain, nullptr));
  linear<<<1, 8>>>(first, second, out, fractions);
  GOOD(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  GOOD(cudaMemcpy(found, fractions, sizeof found, cudaMemcpyDeviceToHost));
  const int wanted[8] = {0, 0, 7, -8, 9, -10, 11, 0};
  EXPECT(std::memcmp(host, wanted, sizeof host) == 0);
  EXPECT(found[2].x == 1 && found[2].y == -1 && found[2].z == -1 && found[2].w == 64 / 127.0f);
  EXPECT(found[3].x == 0 && found[3].w == 0);
  cudaResourceDesc kept;
  cudaTextureDesc read;
  GOOD(cudaGetTextureObjectResourceDesc(&kept, second));
  GOOD(cudaGetTextureObjectTextureDesc(&read, second));
  EXPECT(kept.resType == cudaResourceTypeLinear && kept.res.linear.devPtr == bytes);
  EXPECT(read.readMode == cudaReadModeNormalizedFloat);
  GOOD(cudaDestroyTextureObject(first));
  GOOD(cudaDestroyTextureObject(second));
  GOOD(cudaFree(ints));
  GOOD(cudaFree(out));
  GOOD(cudaFree(bytes));
  GOOD(cudaFree(fractions));
}

__global__ void sample(cudaTextureObject_t pitched, cudaTextureObject_t pairs, float* out, float4* four) {
  out[0] = tex2D<float>(pitched, 3.5f, 2.5f);
  out[1] = tex2D<float>(pitched, 4.0f, 3.0f);                     // between (3, 2) and (4, 3)
  out[2] = tex2D<float>(pitched, 2.5f + 1.0f / 512 + 1.0f / 4096, 0.5f);  // a weight of 1/256
  out[3] = tex2D<float>(pitched, 2.5f + 1.0f / 512 - 1.0f / 4096, 0.5f);  // of none
  out[4] = tex2DLod<float>(pitched, 100.0f, -3.0f, 0.0f);
  for (int component = 0; component < 2; ++component) four[component] = tex2Dgather<float4>(pairs, 3.0f, 2.0f, component);
}

static void pitched_memory_and_gathers() {
  std::vector<float> from = numbers(1);
  float *memory, *out, host[5];
  float4 *four, gathered[2];
  size_t pitch;
  GOOD(cudaMallocPitch(&memory, &pitch, wide * sizeof(float), high));
  GOOD(cudaMemcpy2D(memory, pitch, from.data(), wide * sizeof(float), wide * sizeof(float), high, cudaMemcpyHostToDevice));
  GOOD(cudaMalloc(&out, sizeof host));
  GOOD(cudaMalloc(&four, sizeof gathered));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  resource.res.pitch2D.width = wide;
  resource.res.pitch2D.height = high;
  resource.res.pitch2D.pitchInBytes = pitch;
  cudaTextureDesc between{};
  for (auto& each : between.addressMode) each = cudaAddressModeClamp;
  between.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t pitched, pairs;
  GOOD(cudaCreateTextureObject(&pitched, &resource, &between, nullptr));
  std::vector<float2> two;
  for (float each : from) two.push_back(make_float2(each, -each));
  cudaArray_t array = array_of<float2>(wide, high, 0, cudaArrayTextureGather);
  GOOD(cudaMemcpy2DToArray(array, 0, 0, two.data(), wide * 8, wide * 8, high, cudaMemcpyHostToDevice));
  const cudaResourceDesc on = of(array);
  between.filterMode = cudaFilterModePoint;
  GOOD(cudaCreateTextureObject(&pairs, &on, &between, nullptr));
  sample<<<1, 1>>>(pitched, pairs, out, four);
  GOOD(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  GOOD(cudaMemcpy(gathered, four, sizeof gathered, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 23 && host[1] == 28.5f && host[2] == 2 + 1.0f / 256 && host[3] == 2 && host[4] == 6);
  EXPECT(gathered[0].x == 22 && gathered[0].y == 23 && gathered[0].z == 13 && gathered[0].w == 12);
  EXPECT(gathered[1].x == -22 && gathered[1].y == -23 && gathered[1].z == -13 && gathered[1].w == -12);
  GOOD(cudaDestroyTextureObject(pitched));
  GOOD(cudaDestroyTextureObject(pairs));
  GOOD(cudaFreeArray(array));
  GOOD(cudaFree(memory));
  GOOD(cudaFree(out));
  GOOD(cudaFree(four));
}

__global__ void draw(cudaSurfaceObject_t line, cudaSurfaceObject_t plane, cudaSurfaceObject_t layers, short2* out) {
  surf1Dwrite<unsigned char>(201, line, 3);
  surf1Dwrite<unsigned char>(202, line, wide, cudaBoundaryModeZero);
  surf1Dwrite<unsigned char>(203, line, 100, cudaBoundaryModeClamp);
  surf2Dwrite(make_short2(-5, 6), plane, 2 * 4, 1);
  surf2Dwrite(make_short2(8, 9), plane, -4, -4, cudaBoundaryModeClamp);
  surf2Dwrite(make_short2(1, 1), plane, 2 * 4, high, cudaBoundaryModeZero);
  surf2DLayeredwrite(44.0f, layers, 4 * 4, 3, 2);
  float before;
  surf2DLayeredread(&before, layers, 4 * 4, 3, 1);
  surf2DLayeredwrite(before + 0.5f, layers, 5 * 4, 3, 1);
  out[0] = surf2Dread<short2>(plane, 2 * 4, 1);
  out[1] = surf2Dread<short2>(plane, 100 * 4, 1, cudaBoundaryModeZero);
  out[2] = surf2Dread<short2>(plane, -100 * 4, -1, cudaBoundaryModeClamp);
}

static void surfaces() {
  cudaArray_t line = array_of<unsigned char>(wide, 0, 0, cudaArraySurfaceLoadStore);
  cudaArray_t plane = array_of<short2>(wide, high, 0, cudaArraySurfaceLoadStore);
  cudaArray_t layers = array_of<float>(wide, high, deep, cudaArrayLayered | cudaArraySurfaceLoadStore);
  unsigned char bytes[wide] = {1, 2, 3, 4, 5, 6, 7};
  std::vector<short2> pairs(wide * high, make_short2(3, 4));
  std::vector<float> from = numbers(deep);
  GOOD(cudaMemcpy2DToArray(line, 0, 0, bytes, wide, wide, 1, cudaMemcpyHostToDevice));
  GOOD(cudaMemcpy2DToArray(plane, 0, 0, pairs.data(), wide * 4, wide * 4, high, cudaMemcpyHostToDevice));
  fill(layers, from, deep);
  cudaSurfaceObject_t objects[3];
  cudaArray_t arrays[] = {line, plane, layers};
  for (int k = 0; k < 3; ++k) {
    const cudaResourceDesc on = of(arrays[k]);
    GOOD(cudaCreateSurfaceObject(&objects[k], &on));
  }
  short2 *out, read[3];
  GOOD(cudaMalloc(&out, sizeof read));
  draw<<<1, 1>>>(objects[0], objects[1], objects[2], out);
  GOOD(cudaMemcpy(read, out, sizeof read, cudaMemcpyDeviceToHost));
  EXPECT(read[0].x == -5 && read[0].y == 6 && read[1].x == 0 && read[1].y == 0 && read[2].x == 8 && read[2].y == 9);
  GOOD(cudaMemcpy2DFromArray(bytes, wide, line, 0, 0, wide, 1, cudaMemcpyDeviceToHost));
  EXPECT(bytes[2] == 3 && bytes[3] == 201 && bytes[4] == 5 && bytes[6] == 203);
  float all[deep][high][wide];
  cudaMemcpy3DParms copy{};
  copy.srcArray = layers;
  copy.dstPtr = make_cudaPitchedPtr(all, wide * sizeof(float), wide, high);
  copy.extent = make_cudaExtent(wide, high, deep);
  copy.kind = cudaMemcpyDeviceToHost;
  GOOD(cudaMemcpy3D(&copy));
  EXPECT(all[2][3][4] == 44 && all[1][3][5] == 134.5f && all[1][3][4] == 134 && all[0][3][5] == 35);
  for (int k = 0; k < 3; ++k) {
    GOOD(cudaDestroySurfaceObject(objects[k]));
    GOOD(cudaFreeArray(arrays[k]));
  }
  GOOD(cudaFree(out));
}

// What is refused: filters of integers, as CUDA does; and what the software does not have.
static void refusals() {
  cudaArray_t array = array_of<int>(wide, high, 0);
  const cudaResourceDesc on = of(array);
  cudaTextureObject_t object;
  cudaTextureDesc texture{};
  texture.filterMode = cudaFilterModeLinear;
  EXPECT(cudaCreateTextureObject(&object, &on, &texture, nullptr) != cudaSuccess);
  texture.filterMode = cudaFilterModePoint;
  texture.borderColor[1] = 1;
  EXPECT(cudaCreateTextureObject(&object, &on, &texture, nullptr) != cudaSuccess);
  texture.borderColor[1] = 0;
  texture.sRGB = 1;
  EXPECT(cudaCreateTextureObject(&object, &on, &texture, nullptr) != cudaSuccess);
  texture.sRGB = 0;
  cudaResourceDesc mipmaps{};
  mipmaps.resType = cudaResourceTypeMipmappedArray;
  EXPECT(cudaCreateTextureObject(&object, &mipmaps, &texture, nullptr) != cudaSuccess);
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  cudaSurfaceObject_t surface;
  EXPECT(cudaCreateSurfaceObject(&surface, &linear) != cudaSuccess);
  const cudaChannelFormatDesc three = {8, 8, 8, 0, cudaChannelFormatKindUnsigned};
  cudaArray_t none;
  EXPECT(cudaMallocArray(&none, &three, 4, 4) != cudaSuccess);
  GOOD(cudaFreeArray(array));
}

__global__ void outside(cudaSurfaceObject_t surface) { surf2Dwrite(1, surface, 4 * wide, 0); }

// Without a mode, an access outside ends the kernel with an error.
static void trap() {
  cudaArray_t array = array_of<int>(wide, high, 0, cudaArraySurfaceLoadStore);
  const cudaResourceDesc on = of(array);
  cudaSurfaceObject_t surface;
  GOOD(cudaCreateSurfaceObject(&surface, &on));
  outside<<<1, 1>>>(surface);
  EXPECT(cudaDeviceSynchronize() != cudaSuccess);
}

int main(int argc, char**) {
  if (argc > 1) {
    trap();
    return failures;
  }
  copies();
  linear_memory();
  pitched_memory_and_gathers();
  surfaces();
  refusals();
  std::printf("failures: %d\n", failures);
  return failures;
}
