// Textures with gradients and surfaces with coordinates beyond their edges. A texture of one level has
// the same value whatever the gradients are; what a surface has beyond its edge, by the boundary mode, is
// the CUDA programming guide's: the nearest texel (clamp), or zero.
#include <vector>

#include "expect.h"

constexpr int width = 5, height = 4, depth = 3, places = 4;

// Texel (x, y, z) is 100 z + 10 y + x.
static float texel(int x, int y, int z) { return static_cast<float>(100 * z + 10 * y + x); }

__global__ void by_gradients(const cudaTextureObject_t* textures, cudaTextureObject_t plane, cudaTextureObject_t line,
                             cudaTextureObject_t planes, cudaTextureObject_t lines, float change, float* out) {
  const int k = threadIdx.x;
  const float x = 0.5f * (k + 2), y = 0.5f + k % 3;
  const auto right = make_float2(change, 0.5f), down = make_float2(-2.0f, change * 7);
  out[k] = tex2DGrad<float>(plane, x, y, right, down);
  out[places + k] = tex2DGrad<float>(textures[k % 2], x, y, right, down);
  out[2 * places + k] = tex1DGrad<float>(line, x, change, -change);
  out[3 * places + k] = tex2DLayeredGrad<float>(planes, x, y, k, right, down);
  out[4 * places + k] = tex1DLayeredGrad<float>(lines, x, k, change, -change);
  out[5 * places + k] = tex2DLayeredGrad<float>(textures[2 + k % 2], x, y, 1, right, down);
}

template <typename T, cudaSurfaceBoundaryMode mode>
__global__ void read(cudaSurfaceObject_t surface, int kind, int low, T* out) {
  const int x = static_cast<int>(threadIdx.x) + low, y = static_cast<int>(threadIdx.y) + low;
  const int z = static_cast<int>(blockIdx.x) + (kind < 2 || kind == 4 ? low : 0), size = sizeof(T);
  T value{};
  switch (kind) {
    case 0: surf1Dread(&value, surface, x * size, mode); break;
    case 1: surf2Dread(&value, surface, x * size, y, mode); break;
    case 2: surf1DLayeredread(&value, surface, x * size, z, mode); break;
    case 3: surf2DLayeredread(&value, surface, x * size, y, z, mode); break;
    case 4: surf3Dread(&value, surface, x * size, y, z, mode); break;
  }
  out[(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] = value;
}

// Three texels: inside, before the first and behind the last column.
template <cudaSurfaceBoundaryMode mode>
__global__ void write(cudaSurfaceObject_t surface) {
  const int x = static_cast<int>(threadIdx.x) * 4 - 2;
  surf2Dwrite(1000.0f + x, surface, x * static_cast<int>(sizeof(float)), 1 + static_cast<int>(threadIdx.x), mode);
}

static float number(float value) { return value; }
static float number(unsigned char value) { return value; }
static float number(float4 value) { return value.x + 2 * value.y + 4 * value.z + 8 * value.w; }

template <typename T>
static T made(float value);
template <>
float made(float value) { return value; }
template <>
unsigned char made(float value) { return static_cast<unsigned char>(value); }
template <>
float4 made(float value) { return {value, 0, 1, value}; }

struct Shape {
  int kind, columns, rows, slices;  // rows or slices of 0: there is no such axis
  unsigned flags;
};

template <typename T>
static cudaArray_t filled(const Shape& shape) {
  const auto format = cudaCreateChannelDesc<T>();
  const int rows = shape.rows ? shape.rows : 1, slices = shape.slices ? shape.slices : 1;
  std::vector<T> texels;
  for (int z = 0; z < slices; ++z)
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < shape.columns; ++x) texels.push_back(made<T>(texel(x, y, z)));
  cudaArray_t array;
  GOOD(cudaMalloc3DArray(&array, &format, make_cudaExtent(shape.columns, shape.rows, shape.slices), shape.flags));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), shape.columns * sizeof(T), shape.columns, rows);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(shape.columns, rows, slices);
  copy.kind = cudaMemcpyHostToDevice;
  GOOD(cudaMemcpy3D(&copy));
  return array;
}

static cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter) {
  const auto resource = resource_of(array);
  cudaTextureDesc described{};
  described.addressMode[0] = described.addressMode[1] = cudaAddressModeClamp;
  described.filterMode = filter;
  cudaTextureObject_t texture;
  GOOD(cudaCreateTextureObject(&texture, &resource, &described, nullptr));
  return texture;
}

static int limited(int at, int count) { return at < 0 ? 0 : at >= count ? count - 1 : at; }

template <typename T, cudaSurfaceBoundaryMode mode>
static void expect_reads(const Shape& shape) {
  constexpr int low = -2, across = width + 4, down = height + 4, deep = depth + 4;
  const bool layered = shape.kind == 2 || shape.kind == 3;
  const auto resource = resource_of(filled<T>(shape));
  cudaSurfaceObject_t surface;
  GOOD(cudaCreateSurfaceObject(&surface, &resource));
  const int slices = layered ? depth : deep;
  std::vector<T> found(across * down * slices);
  T* out;
  GOOD(cudaMalloc(&out, found.size() * sizeof(T)));
  read<T, mode><<<slices, dim3(across, down)>>>(surface, shape.kind, low, out);
  GOOD(cudaMemcpy(found.data(), out, found.size() * sizeof(T), cudaMemcpyDeviceToHost));
  for (int n = 0; n < static_cast<int>(found.size()); ++n) {
    const int x = n % across + low, y = n / across % down + low, z = n / across / down + (layered ? 0 : low);
    const int at_y = shape.rows ? limited(y, shape.rows) : 0, at_z = shape.slices ? limited(z, shape.slices) : 0;
    const bool inside = x >= 0 && x < width && (shape.rows == 0 || at_y == y) && (shape.slices == 0 || at_z == z);
    const bool is_zero = mode == cudaBoundaryModeZero && !inside;
    const float wanted = is_zero ? 0 : number(made<T>(texel(limited(x, width), at_y, at_z)));
    if (number(found[n]) == wanted) continue;
    if (failures++ < 20)
      std::printf("kind %d of %d bytes, mode %d, (%d, %d, %d): %g, not %g\n", shape.kind, int(sizeof(T)), mode, x, y, z,
                  number(found[n]), wanted);
  }
  GOOD(cudaFree(out));
}

template <cudaSurfaceBoundaryMode mode>
static void expect_writes(const Shape& shape) {
  const auto array = filled<float>(shape);
  const auto resource = resource_of(array);
  cudaSurfaceObject_t surface;
  GOOD(cudaCreateSurfaceObject(&surface, &resource));
  write<mode><<<1, 3>>>(surface);
  float found[height][width];
  GOOD(cudaMemcpy2DFromArray(found, sizeof found[0], array, 0, 0, sizeof found[0], height, cudaMemcpyDeviceToHost));
  const bool clamps = mode == cudaBoundaryModeClamp;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float wanted = texel(x, y, 0);
      if (y == 1 && x == 0 && clamps) wanted = 998;
      if (y == 2 && x == 2) wanted = 1002;
      if (y == 3 && x == 4 && clamps) wanted = 1006;
      EXPECT(found[y][x] == wanted);
    }
  }
}

static const Shape line = {0, width, 0, 0, cudaArraySurfaceLoadStore};
static const Shape plane = {1, width, height, 0, cudaArraySurfaceLoadStore};
static const Shape lines = {2, width, 0, depth, cudaArraySurfaceLoadStore | cudaArrayLayered};
static const Shape planes = {3, width, height, depth, cudaArraySurfaceLoadStore | cudaArrayLayered};
static const Shape volume = {4, width, height, depth, cudaArraySurfaceLoadStore};

static void gradients() {
  const auto point = cudaFilterModePoint, linear = cudaFilterModeLinear;
  const auto flat = filled<float>(plane), stacked = filled<float>(planes);
  const cudaTextureObject_t host[] = {texture_of(flat, point), texture_of(flat, linear), texture_of(stacked, point),
                                      texture_of(stacked, linear)};
  cudaTextureObject_t* textures;
  float *out, found[6 * places];
  GOOD(cudaMalloc(&textures, sizeof host));
  GOOD(cudaMalloc(&out, sizeof found));
  GOOD(cudaMemcpy(textures, host, sizeof host, cudaMemcpyHostToDevice));
  by_gradients<<<1, places>>>(textures, host[1], texture_of(filled<float>(line), linear), host[2],
                              texture_of(filled<float>(lines), point), 3.0f, out);
  GOOD(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
  // x is 1, 1.5, 2 and 2.5, between texels, on one, …; y is in the middle of rows 0, 1, 2 and 0.
  const float wanted[6 * places] = {0.5f, 11, 21.5f, 2,        // plane, filtered
                                    1,    11, 22,    2,        // even places: the nearest texel
                                    0.5f, 1,  1.5f,  2,        // the line, filtered
                                    1,    111, 222,  202,      // the layers' nearest; there is no fourth
                                    1,    101, 202,  202,      // lines
                                    101,  111, 122,  102};     // layer 1: nearest, filtered, …
  for (int k = 0; k < 6 * places; ++k) {
    if (found[k] == wanted[k]) continue;
    std::printf("gradients, %d: %g, not %g\n", k, found[k], wanted[k]);
    ++failures;
  }
}

int main() {
  gradients();
  for (const auto& shape : {line, plane, lines, planes, volume}) {
    expect_reads<float, cudaBoundaryModeClamp>(shape);
    expect_reads<float, cudaBoundaryModeZero>(shape);
  }
  expect_reads<unsigned char, cudaBoundaryModeClamp>(plane);
  expect_reads<float4, cudaBoundaryModeClamp>(planes);
  expect_writes<cudaBoundaryModeClamp>(plane);
  expect_writes<cudaBoundaryModeZero>(plane);
  return failures != 0;
}
