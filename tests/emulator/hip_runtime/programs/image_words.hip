// Prints what the device finds at a surface object: the words that say format and size, and the
// sampler's of a texture object.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>

__global__ void read(const uint32_t* object, uint32_t* out) {
  out[threadIdx.x] = object[threadIdx.x];
}

int main() {
  const hipChannelFormatDesc channels = hipCreateChannelDesc<uchar4>();
  hipArray_t array = nullptr;
  uint32_t *out = nullptr, found[20];
  if (hipMallocArray(&array, &channels, 102, 37, hipArraySurfaceLoadStore) != hipSuccess) return 2;
  if (hipMalloc(&out, sizeof found) != hipSuccess) return 3;
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  hipTextureDesc description{};
  hipTextureObject_t texture = nullptr;
  if (hipCreateTextureObject(&texture, &resource, &description, nullptr) != hipSuccess) return 4;
  read<<<1, 20>>>(reinterpret_cast<const uint32_t*>(texture), out);
  if (hipMemcpy(found, out, sizeof found, hipMemcpyDeviceToHost) != hipSuccess) return 5;
  // Of word 1 without the address.
  std::printf("%x %x %x %x\n", found[1] & ~0xFFU, found[2], found[3], found[13]);
}
