// Texture references: variables of a program that its kernels read. Binding makes a texture object
// and writes it into the variable, on the host and on the device, as clr does
// (hipamd/src/hip_texture.cpp).
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

#include "device.hpp"
#include "errors.hpp"
#include "memory.hpp"
#include "module.hpp"
#include "remote_device.hpp"

namespace cass::hip {
namespace {

constexpr std::uintptr_t alignment = 256;  // textureAlignment of device_properties.cpp

// Where the memory begins that is bound, after the place that was asked for was aligned.
struct Offsets {
  std::mutex guard;
  std::map<const textureReference*, std::size_t> all;
};

Offsets& offsets() {
  static auto& known = *new Offsets;
  return known;
}

hipTextureDesc description_of(const textureReference& reference) {
  hipTextureDesc d{};
  std::copy_n(reference.addressMode, 3, d.addressMode);
  d.filterMode = reference.filterMode;
  d.readMode = reference.readMode;
  d.sRGB = reference.sRGB;
  d.normalizedCoords = reference.normalized;
  d.maxAnisotropy = reference.maxAnisotropy;
  return d;
}

// The kernels of the current device see `reference` as it is now.
hipError_t publish(const textureReference& reference) {
  cass::amdgpu::Symbol variable;
  const int device = Device::current().ordinal;
  if (const auto error = Program::instance().variable(&reference, device, &variable);
      error != hipSuccess) {
    return error == hipErrorInvalidSymbol ? hipErrorInvalidValue : error;
  }
  if (variable.size < sizeof reference) return hipErrorInvalidValue;
  Device::synchronize_all();
  const CopySide to{variable.address, sizeof reference, true};
  auto* bytes = reinterpret_cast<std::byte*>(const_cast<textureReference*>(&reference));
  return RemoteDevice::instance().copy(to, {bytes, sizeof reference, false}, sizeof reference, 1);
}

hipError_t unbind(const textureReference* reference) {
  const auto old = reference->textureObject;
  const_cast<textureReference*>(reference)->textureObject = nullptr;
  return old == nullptr ? hipSuccess : hipDestroyTextureObject(old);
}

hipError_t bind(const textureReference* reference, const hipResourceDesc& resource,
                std::size_t offset) {
  if (const auto error = unbind(reference); error != hipSuccess) return error;
  const auto description = description_of(*reference);
  auto* object = &const_cast<textureReference*>(reference)->textureObject;
  if (const auto error = hipCreateTextureObject(object, &resource, &description, nullptr);
      error != hipSuccess) {
    return error;
  }
  {
    const std::lock_guard lock(offsets().guard);
    offsets().all[reference] = offset;
  }
  return publish(*reference);
}

// The part of `address` that the alignment of textures leaves to the program. A program that does
// not ask for it cannot add it: hipErrorInvalidValue.
hipError_t align(const void*& address, std::size_t* offset, std::size_t& rest) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  rest = place % alignment;
  if (offset == nullptr && rest != 0) return hipErrorInvalidValue;
  if (offset != nullptr) *offset = rest;
  address = reinterpret_cast<const void*>(place - rest);
  return hipSuccess;
}

// `bytes` from `address` on, no further than the allocation: the default size is the largest there
// is.
std::size_t within_allocation(const void* address, std::size_t bytes) {
  const auto allocation = Memory::instance().find(address);
  if (!allocation) return bytes;
  const auto place = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address));
  const auto start = reinterpret_cast<std::uintptr_t>(allocation->base);
  return std::min(bytes, allocation->size - (place - start));
}

}  // namespace
}  // namespace cass::hip

using namespace cass::hip;

hipError_t hipBindTexture(std::size_t* offset, const textureReference* reference,
                          const void* address, const hipChannelFormatDesc* channels,
                          std::size_t bytes) {
  if (reference == nullptr || address == nullptr || channels == nullptr) {
    return record(hipErrorInvalidValue);
  }
  std::size_t rest = 0;
  const void* base = address;
  if (const auto error = align(base, offset, rest); error != hipSuccess) return record(error);
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<void*>(base);
  resource.res.linear.desc = *channels;
  resource.res.linear.sizeInBytes = within_allocation(address, bytes) + rest;
  return record(bind(reference, resource, rest));
}

hipError_t hipBindTexture2D(std::size_t* offset, const textureReference* reference,
                            const void* address, const hipChannelFormatDesc* channels,
                            std::size_t width, std::size_t height, std::size_t pitch) {
  if (reference == nullptr || address == nullptr || channels == nullptr) {
    return record(hipErrorInvalidValue);
  }
  std::size_t rest = 0;
  if (const auto error = align(address, offset, rest); error != hipSuccess) return record(error);
  hipResourceDesc resource{};
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D.devPtr = const_cast<void*>(address);
  resource.res.pitch2D.desc = *channels;
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  return record(bind(reference, resource, rest));
}

hipError_t hipBindTextureToArray(const textureReference* reference, hipArray_const_t array,
                                 const hipChannelFormatDesc* channels) {
  if (reference == nullptr || array == nullptr || channels == nullptr) {
    return record(hipErrorInvalidValue);
  }
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = const_cast<hipArray_t>(array);
  return record(bind(reference, resource, 0));
}

hipError_t hipUnbindTexture(const textureReference* reference) {
  if (reference == nullptr) return record(hipErrorInvalidValue);
  {
    const std::lock_guard lock(offsets().guard);
    offsets().all.erase(reference);
  }
  if (const auto error = unbind(reference); error != hipSuccess) return record(error);
  return record(publish(*reference));
}

hipError_t hipGetTextureAlignmentOffset(std::size_t* offset, const textureReference* reference) {
  if (offset == nullptr || reference == nullptr) return record(hipErrorInvalidValue);
  const std::lock_guard lock(offsets().guard);
  const auto found = offsets().all.find(reference);
  if (found == offsets().all.end()) return record(hipErrorInvalidValue);
  *offset = found->second;
  return hipSuccess;
}

hipError_t hipGetTextureReference(const textureReference** reference, const void* symbol) {
  if (reference == nullptr || symbol == nullptr) return record(hipErrorInvalidValue);
  cass::amdgpu::Symbol variable;
  const int device = Device::current().ordinal;
  if (Program::instance().variable(symbol, device, &variable) != hipSuccess) {
    return record(hipErrorInvalidValue);
  }
  *reference = static_cast<const textureReference*>(symbol);
  return hipSuccess;
}
