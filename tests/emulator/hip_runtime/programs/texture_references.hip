// Texture references against values worked out by hand: CUDA C++ Programming Guide 11, "Texture
// Reference API" and "Texture Fetching".
#include <hip/hip_runtime.h>

#include <vector>

#include "expect.hpp"

texture<float, hipTextureType1D, hipReadModeElementType> line;
texture<float, hipTextureType2D, hipReadModeElementType> plane;
texture<unsigned char, hipTextureType2D, hipReadModeNormalizedFloat> shares;

namespace {

__global__ void from_line(float* out) { out[threadIdx.x] = tex1Dfetch(line, threadIdx.x); }
__global__ void from_plane(float* out, float x, float y) { *out = tex2D(plane, x, y); }
__global__ void from_shares(float* out, float x, float y) { *out = tex2D(shares, x, y); }

std::vector<float> results(const float* device, int count) {
  std::vector<float> host(count);
  OK(hipMemcpy(host.data(), device, count * sizeof(float), hipMemcpyDeviceToHost));
  return host;
}

float* device_floats(const std::vector<float>& host) {
  float* device = nullptr;
  OK(hipMalloc(&device, host.size() * sizeof(float)));
  OK(hipMemcpy(device, host.data(), host.size() * sizeof(float), hipMemcpyHostToDevice));
  return device;
}

void check_lines(float* out) {
  float* first = device_floats({1, 2, 3, 4});
  float* second = device_floats({10, 20, 30, 40});
  OK(hipBindTexture(nullptr, line, first, 4 * sizeof(float)));
  from_line<<<1, 4>>>(out);
  EXPECT(results(out, 4) == std::vector<float>({1, 2, 3, 4}));
  // What is bound last counts, and the default size is all that is there: beyond it are zeros.
  OK(hipBindTexture(nullptr, line, second));
  from_line<<<1, 8>>>(out);
  EXPECT(results(out, 5) == std::vector<float>({10, 20, 30, 40, 0}));
}

// A place that is not aligned is given back in parts: bytes from the one that is.
void check_offsets(float* out) {
  std::vector<float> host(128);
  for (int i = 0; i < 128; ++i) host[i] = i;
  float* device = device_floats(host);
  std::size_t offset = 1;
  OK(hipBindTexture(&offset, line, device + 3, 8 * sizeof(float)));
  EXPECT(offset == 3 * sizeof(float));
  std::size_t again = 0;
  OK(hipGetTextureAlignmentOffset(&again, &line));
  EXPECT(again == offset);
  from_line<<<1, 8>>>(out);
  EXPECT(results(out, 4) == std::vector<float>({0, 1, 2, 3}));
  EXPECT(hipBindTexture(nullptr, line, device + 3, 8 * sizeof(float)) == hipErrorInvalidValue);
  OK(hipUnbindTexture(line));
  EXPECT(hipGetTextureAlignmentOffset(&again, &line) == hipErrorInvalidValue);
}

// Three rows of four, 256 bytes apart.
void check_planes(float* out) {
  float* device = nullptr;
  std::size_t pitch = 0;
  OK(hipMallocPitch(reinterpret_cast<void**>(&device), &pitch, 4 * sizeof(float), 3));
  const std::vector<float> host = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
  OK(hipMemcpy2D(device, pitch, host.data(), 4 * sizeof(float), 4 * sizeof(float), 3,
                 hipMemcpyHostToDevice));
  plane.addressMode[0] = plane.addressMode[1] = hipAddressModeClamp;
  plane.filterMode = hipFilterModePoint;
  OK(hipBindTexture2D(nullptr, plane, device, plane.channelDesc, 4, 3, pitch));
  from_plane<<<1, 1>>>(out, 2.5f, 1.5f);
  EXPECT(results(out, 1)[0] == 12);
  from_plane<<<1, 1>>>(out, 9.0f, 9.0f);
  EXPECT(results(out, 1)[0] == 23);
  // Halfway between four texels: (1 + 2 + 11 + 12) / 4.
  plane.filterMode = hipFilterModeLinear;
  OK(hipBindTexture2D(nullptr, plane, device, plane.channelDesc, 4, 3, pitch));
  from_plane<<<1, 1>>>(out, 2.0f, 1.0f);
  EXPECT(results(out, 1)[0] == 6.5f);
}

void check_arrays(float* out) {
  const unsigned char host[2][2] = {{0, 51}, {102, 255}};
  hipArray_t array = nullptr;
  OK(hipMallocArray(&array, &shares.channelDesc, 2, 2, hipArrayDefault));
  OK(hipMemcpy2DToArray(array, 0, 0, host, 2, 2, 2, hipMemcpyHostToDevice));
  shares.normalized = 1;
  shares.addressMode[0] = shares.addressMode[1] = hipAddressModeWrap;
  OK(hipBindTextureToArray(shares, array));
  from_shares<<<1, 1>>>(out, 0.75f, 0.25f);
  EXPECT(results(out, 1)[0] == 51 / 255.0f);
  from_shares<<<1, 1>>>(out, 1.25f, 0.75f);  // once around
  EXPECT(results(out, 1)[0] == 102 / 255.0f);
  const textureReference* found = nullptr;
  OK(hipGetTextureReference(&found, &shares));
  EXPECT(found == &shares);
  EXPECT(hipGetTextureReference(&found, out) == hipErrorInvalidValue);
}

}  // namespace

int main() {
  float* out = nullptr;
  OK(hipMalloc(&out, 8 * sizeof(float)));
  check_lines(out);
  check_offsets(out);
  check_planes(out);
  check_arrays(out);
  return report();
}
