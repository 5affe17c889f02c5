// Filters x address modes x coordinates x types x shapes: prints the words of each fetch. `model.py`
// has the same texels and coordinates and works the results out.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define GOOD(call)                                                          \
  if (const cudaError_t status = (call); status != cudaSuccess) {           \
    std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(status));       \
    std::exit(1);                                                           \
  }

constexpr int count = 40, columns = 11, rows = 6, slices = 5;
enum Shape { line, plane, volume, lines, planes };

struct Random {
  unsigned state;
  unsigned next() { return (state = state * 1664525u + 1013904223u) >> 8; }  // 24 bits
};

template <typename T> __global__ void fetch(cudaTextureObject_t texture, Shape shape, const float4* at, T* out) {
  const float4 p = at[threadIdx.x];
  const int layer = static_cast<int>(p.w);
  T value;
  if (shape == line) value = tex1D<T>(texture, p.x);
  if (shape == plane) value = tex2D<T>(texture, p.x, p.y);
  if (shape == volume) value = tex3D<T>(texture, p.x, p.y, p.z);
  if (shape == lines) value = tex1DLayered<T>(texture, p.x, layer);
  if (shape == planes) value = tex2DLayered<T>(texture, p.x, p.y, layer);
  out[threadIdx.x] = value;
}

// Texels are whatever the generator gives: for floats numbers between -8 and 8 of 12 bits.
static std::vector<unsigned char> texels(const cudaChannelFormatDesc& format, size_t channels) {
  Random random{static_cast<unsigned>(format.x * 10 + static_cast<int>(format.f))};
  std::vector<unsigned char> bytes(channels * format.x / 8);
  for (size_t k = 0; k < channels; ++k) {
    const unsigned drawn = random.next();
    unsigned word = drawn << 8 | drawn >> 16;
    if (format.f == cudaChannelFormatKindFloat) {
      const float value = (static_cast<int>(drawn % 4096) - 2048) / 256.0f;
      std::memcpy(&word, &value, 4);
      if (format.x == 16) {  // a whole number between -16 and 15, as a half
        const int whole = static_cast<int>(drawn % 32) - 16;
        const int size = whole < 0 ? -whole : whole;
        int power = 0;
        while (size >> power > 1) ++power;
        const unsigned fraction = size == 0 ? 0 : (size << (10 - power)) & 1023;
        word = (whole < 0 ? 0x8000u : 0u) | (size == 0 ? 0u : (power + 15u) << 10 | fraction);
      }
    }
    for (int byte = 0; byte < format.x / 8; ++byte) bytes[k * format.x / 8 + byte] = word >> 8 * byte;
  }
  return bytes;
}

template <typename T> static void print(const char* name, const T* values, size_t words) {
  std::printf("%s:", name);
  unsigned each;
  for (size_t k = 0; k < words * count; ++k) {
    std::memcpy(&each, reinterpret_cast<const char*>(values) + 4 * k, 4);
    std::printf(" %x", each);
  }
  std::printf("\n");
}

// T: what is fetched, Wide: its words, of 32 bits for each channel.
template <typename T> static void cases(const char* name, cudaChannelFormatDesc format, bool normal) {
  const int channels = (format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0);
  float4* at;
  T *out, host[count];
  GOOD(cudaMalloc(&at, count * sizeof(float4)));
  GOOD(cudaMalloc(&out, sizeof host));
  for (int shape = line; shape <= planes; ++shape) {
    const bool is_layered = shape == lines || shape == planes;
    const int height = shape == line || shape == lines ? 0 : rows, depth = shape == line || shape == plane ? 0 : slices;
    const size_t lines_of_it = height == 0 ? 1 : height, slices_of_it = depth == 0 ? 1 : depth;
    const std::vector<unsigned char> data = texels(format, columns * lines_of_it * slices_of_it * channels);
    cudaArray_t array;
    GOOD(cudaMalloc3DArray(&array, &format, make_cudaExtent(columns, height, depth), is_layered ? cudaArrayLayered : 0));
    cudaMemcpy3DParms copy{};
    const size_t pitch = data.size() / lines_of_it / slices_of_it;
    copy.srcPtr = make_cudaPitchedPtr(const_cast<unsigned char*>(data.data()), pitch, columns, lines_of_it);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(columns, lines_of_it, slices_of_it);
    copy.kind = cudaMemcpyHostToDevice;
    GOOD(cudaMemcpy3D(&copy));
    for (int mode = 0; mode < 16; ++mode) {
      cudaTextureDesc texture{};
      const int address = mode / 4;
      for (auto& each : texture.addressMode) each = static_cast<cudaTextureAddressMode>(address);
      texture.normalizedCoords = mode & 1;
      texture.filterMode = mode & 2 ? cudaFilterModeLinear : cudaFilterModePoint;
      texture.readMode = normal ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
      const bool is_float = format.f == cudaChannelFormatKindFloat;
      if (texture.filterMode == cudaFilterModeLinear && !is_float && !normal) continue;
      if (is_float) {
        const float border[] = {1.5f, -2.25f, 3.0f, 0.125f};
        std::memcpy(texture.borderColor, border, sizeof border);
      }
      cudaResourceDesc resource{};
      resource.resType = cudaResourceTypeArray;
      resource.res.array.array = array;
      cudaTextureObject_t object;
      GOOD(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
      Random random{static_cast<unsigned>(1000 + 16 * shape + mode)};
      float4 places[count];
      for (auto& place : places) {
        float* coordinates = &place.x;
        const int sizes[] = {columns, rows, slices};
        for (int axis = 0; axis < 3; ++axis) {
          // From -1.5 to 2.5 times the size, in steps of 1/4096 of a texel.
          const int steps = sizes[axis] * 4096;
          const float texel = (static_cast<int>(random.next() % (4 * steps)) - steps * 3 / 2) / 4096.0f;
          coordinates[axis] = texture.normalizedCoords ? texel / sizes[axis] : texel;
        }
        coordinates[3] = static_cast<float>(static_cast<int>(random.next() % (slices + 2)) - 1);
      }
      GOOD(cudaMemcpy(at, places, sizeof places, cudaMemcpyHostToDevice));
      fetch<T><<<1, count>>>(object, static_cast<Shape>(shape), at, out);
      GOOD(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
      char full[64];
      std::snprintf(full, sizeof full, "%s %d %d", name, shape, mode);
      print(full, host, sizeof(T) / 4);
      GOOD(cudaDestroyTextureObject(object));
    }
    GOOD(cudaFreeArray(array));
  }
  GOOD(cudaFree(at));
  GOOD(cudaFree(out));
}

int main() {
  cases<float>("float", cudaCreateChannelDesc<float>(), false);
  cases<float2>("float2", cudaCreateChannelDesc<float2>(), false);
  cases<float4>("float4", cudaCreateChannelDesc<float4>(), false);
  cases<float>("half", cudaCreateChannelDescHalf(), false);
  cases<float4>("half4", cudaCreateChannelDescHalf4(), false);
  cases<float4>("uchar4 normal", cudaCreateChannelDesc<uchar4>(), true);
  cases<float>("char normal", cudaCreateChannelDesc<signed char>(), true);
  cases<float2>("ushort2 normal", cudaCreateChannelDesc<ushort2>(), true);
  cases<float4>("short4 normal", cudaCreateChannelDesc<short4>(), true);
  cases<int>("int", cudaCreateChannelDesc<int>(), false);
  cases<uint4>("uint4", cudaCreateChannelDesc<uint4>(), false);
  cases<short2>("short2", cudaCreateChannelDesc<short2>(), false);
  cases<uchar4>("uchar4", cudaCreateChannelDesc<uchar4>(), false);
}
