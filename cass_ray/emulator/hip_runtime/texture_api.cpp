// Texture and surface objects.
#include <hip/hip_runtime_api.h>

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "array.hpp"
#include "device.hpp"
#include "errors.hpp"
#include "image_resource.hpp"
#include "memory.hpp"
#include "remote_device.hpp"

namespace cass::hip {
namespace {

// What was said at creation, for the queries.
struct Object {
  hipResourceDesc resource{};
  hipTextureDesc texture{};
  std::optional<hipResourceViewDesc> view;
  bool is_surface = false;
};

struct Objects {
  std::mutex guard;
  std::map<const void*, Object> all;  // by device address
};

Objects& objects() {
  static auto& known = *new Objects;
  return known;
}

void show(const hipArray& array, ImageView& view) {
  view.data = array.data;
  view.channels = array.channels;
  view.width = view.pitch = array.width;
  view.height = array.height;
  view.depth = array.depth;
  view.layered = (array.flags & hipArrayLayered) != 0;
}

std::size_t element_bytes(const hipChannelFormatDesc& c) {
  return static_cast<std::size_t>(c.x + c.y + c.z + c.w) / 8;
}

hipError_t view_of(const hipResourceDesc& resource, ImageView& view) {
  switch (resource.resType) {
    case hipResourceTypeArray:
      if (!is_array(resource.res.array.array)) return hipErrorInvalidValue;
      show(*resource.res.array.array, view);
      return hipSuccess;
    case hipResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      const std::size_t bytes = element_bytes(linear.desc);
      if (linear.devPtr == nullptr || bytes == 0) return hipErrorInvalidValue;
      view.data = static_cast<std::byte*>(linear.devPtr);
      view.channels = linear.desc;
      view.width = linear.sizeInBytes / bytes;
      view.linear = true;
      return hipSuccess;
    }
    case hipResourceTypePitch2D: {
      const auto& pitched = resource.res.pitch2D;
      const std::size_t bytes = element_bytes(pitched.desc);
      if (pitched.devPtr == nullptr || bytes == 0 || pitched.height == 0)
        return hipErrorInvalidValue;
      if (pitched.pitchInBytes % bytes != 0 || pitched.pitchInBytes < pitched.width * bytes) {
        return hipErrorInvalidValue;
      }
      view.data = static_cast<std::byte*>(pitched.devPtr);
      view.channels = pitched.desc;
      view.width = pitched.width;
      view.height = pitched.height;
      view.pitch = pitched.pitchInBytes / bytes;
      return hipSuccess;
    }
    default: return unsupported("a texture of a mipmapped array");
  }
}

// Puts the words where the device reads them.
hipError_t publish(const ImageWords& image, const SamplerWords& sampler, const Object& object,
                   void** handle) {
  void* place = nullptr;
  constexpr std::size_t bytes = sizeof image + sizeof sampler;
  if (const auto error = Memory::instance().allocate(bytes, MemoryKind::array,
                                                     Device::current().ordinal, 0, &place);
      error != hipSuccess) {
    return error;
  }
  std::array<std::byte, bytes> words;
  std::memcpy(words.data(), image.data(), sizeof image);
  std::memcpy(words.data() + sizeof image, sampler.data(), sizeof sampler);
  const CopySide to{static_cast<std::byte*>(place), bytes, true};
  if (const auto error = RemoteDevice::instance().copy(to, {words.data(), bytes, false}, bytes, 1);
      error != hipSuccess) {
    return error;
  }
  const std::lock_guard lock(objects().guard);
  objects().all.emplace(place, object);
  *handle = place;
  return hipSuccess;
}

ResourceLayout layout() {
  return Device::current().kind.processor.starts_with("gfx12") ? ResourceLayout::rdna4
                                                               : ResourceLayout::rdna3;
}

hipError_t create_texture(const hipResourceDesc& resource, const hipTextureDesc& texture,
                          const hipResourceViewDesc* view_description, void** handle) {
  if (texture.sRGB != 0) return unsupported("a texture with sRGB");
  if (view_description != nullptr && view_description->format != hipResViewFormatNone) {
    return unsupported("a texture with a resource view of another format");
  }
  ImageView view;
  if (const auto error = view_of(resource, view); error != hipSuccess) return error;
  // What is read as an integer has no values between texels.
  const bool whole = view.channels.f != hipChannelFormatKindFloat &&
                     (texture.readMode == hipReadModeElementType || view.channels.x == 32);
  if (texture.filterMode == hipFilterModeLinear && whole) return hipErrorInvalidValue;
  ImageWords image;
  SamplerWords sampler;
  const bool normalized = texture.readMode == hipReadModeNormalizedFloat;
  auto error = encode_image(view, normalized, layout(), image);
  if (error == hipSuccess) error = encode_sampler(texture, layout(), sampler);
  if (error != hipSuccess) return error;
  Object object;
  object.resource = resource;
  object.texture = texture;
  if (view_description != nullptr) object.view = *view_description;
  return publish(image, sampler, object, handle);
}

hipError_t create_surface(const hipResourceDesc& resource, void** handle) {
  if (resource.resType != hipResourceTypeArray) return hipErrorInvalidValue;
  ImageView view;
  if (const auto error = view_of(resource, view); error != hipSuccess) return error;
  ImageWords image;
  if (const auto error = encode_image(view, false, layout(), image); error != hipSuccess) {
    return error;
  }
  Object object;
  object.resource = resource;
  object.is_surface = true;
  return publish(image, {}, object, handle);
}

// Destroying null is allowed, as freeing it is.
hipError_t destroy(const void* handle, bool is_surface) {
  if (handle == nullptr) return hipSuccess;
  Device::synchronize_all();
  {
    const std::lock_guard lock(objects().guard);
    const auto found = objects().all.find(handle);
    if (found == objects().all.end() || found->second.is_surface != is_surface) {
      return hipErrorInvalidValue;
    }
    objects().all.erase(found);
  }
  return Memory::instance().release(const_cast<void*>(handle));
}

std::optional<Object> texture_at(const void* handle) {
  const std::lock_guard lock(objects().guard);
  const auto found = objects().all.find(handle);
  if (found == objects().all.end() || found->second.is_surface) return std::nullopt;
  return found->second;
}

}  // namespace
}  // namespace cass::hip

using namespace cass::hip;

hipError_t hipCreateTextureObject(hipTextureObject_t* texture, const hipResourceDesc* resource,
                                  const hipTextureDesc* description,
                                  const hipResourceViewDesc* view) {
  if (texture == nullptr || resource == nullptr || description == nullptr) {
    return record(hipErrorInvalidValue);
  }
  void* handle = nullptr;
  const auto error = create_texture(*resource, *description, view, &handle);
  if (error == hipSuccess) *texture = static_cast<hipTextureObject_t>(handle);
  return record(error);
}

hipError_t hipDestroyTextureObject(hipTextureObject_t texture) {
  return record(destroy(texture, false));
}
hipError_t hipTexObjectDestroy(hipTextureObject_t texture) {
  return record(destroy(texture, false));
}

hipError_t hipCreateSurfaceObject(hipSurfaceObject_t* surface, const hipResourceDesc* resource) {
  if (surface == nullptr || resource == nullptr) return record(hipErrorInvalidValue);
  void* handle = nullptr;
  const auto error = create_surface(*resource, &handle);
  if (error == hipSuccess) *surface = static_cast<hipSurfaceObject_t>(handle);
  return record(error);
}

hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surface) {
  return record(destroy(surface, true));
}

hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc* resource, hipTextureObject_t texture) {
  const auto object = texture_at(texture);
  if (resource == nullptr || !object) return record(hipErrorInvalidValue);
  *resource = object->resource;
  return hipSuccess;
}

hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc* description, hipTextureObject_t texture) {
  const auto object = texture_at(texture);
  if (description == nullptr || !object) return record(hipErrorInvalidValue);
  *description = object->texture;
  return hipSuccess;
}

hipError_t hipGetTextureObjectResourceViewDesc(hipResourceViewDesc* view,
                                               hipTextureObject_t texture) {
  const auto object = texture_at(texture);
  if (view == nullptr || !object || !object->view) return record(hipErrorInvalidValue);
  *view = *object->view;
  return hipSuccess;
}
