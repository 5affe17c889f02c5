#include "array.hpp"

#include <map>
#include <mutex>
#include <optional>

#include "device.hpp"
#include "errors.hpp"
#include "memory.hpp"

namespace cass::hip {
namespace {

struct Arrays {
  std::mutex guard;
  std::map<hipArray_const_t, std::unique_ptr<hipArray>> all;
};

Arrays& arrays() {
  static auto& known = *new Arrays;
  return known;
}

constexpr unsigned known_flags =
    hipArrayLayered | hipArraySurfaceLoadStore | hipArrayCubemap | hipArrayTextureGather;

std::optional<hipArray_Format> format_of(const hipChannelFormatDesc& channels) {
  switch (channels.f) {
    case hipChannelFormatKindSigned:
      if (channels.x == 8) return HIP_AD_FORMAT_SIGNED_INT8;
      if (channels.x == 16) return HIP_AD_FORMAT_SIGNED_INT16;
      if (channels.x == 32) return HIP_AD_FORMAT_SIGNED_INT32;
      return std::nullopt;
    case hipChannelFormatKindUnsigned:
      if (channels.x == 8) return HIP_AD_FORMAT_UNSIGNED_INT8;
      if (channels.x == 16) return HIP_AD_FORMAT_UNSIGNED_INT16;
      if (channels.x == 32) return HIP_AD_FORMAT_UNSIGNED_INT32;
      return std::nullopt;
    case hipChannelFormatKindFloat:
      if (channels.x == 16) return HIP_AD_FORMAT_HALF;
      if (channels.x == 32) return HIP_AD_FORMAT_FLOAT;
      return std::nullopt;
    default: return std::nullopt;
  }
}

hipChannelFormatDesc channels_of(hipArray_Format format, unsigned count) {
  int bits = 32;
  auto kind = hipChannelFormatKindFloat;
  switch (format) {
    case HIP_AD_FORMAT_UNSIGNED_INT8: bits = 8, kind = hipChannelFormatKindUnsigned; break;
    case HIP_AD_FORMAT_UNSIGNED_INT16: bits = 16, kind = hipChannelFormatKindUnsigned; break;
    case HIP_AD_FORMAT_UNSIGNED_INT32: kind = hipChannelFormatKindUnsigned; break;
    case HIP_AD_FORMAT_SIGNED_INT8: bits = 8, kind = hipChannelFormatKindSigned; break;
    case HIP_AD_FORMAT_SIGNED_INT16: bits = 16, kind = hipChannelFormatKindSigned; break;
    case HIP_AD_FORMAT_SIGNED_INT32: kind = hipChannelFormatKindSigned; break;
    case HIP_AD_FORMAT_HALF: bits = 16; break;
    case HIP_AD_FORMAT_FLOAT: break;
  }
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};
}

unsigned count_of(const hipChannelFormatDesc& channels) {
  return static_cast<unsigned>((channels.x != 0) + (channels.y != 0) + (channels.z != 0) +
                               (channels.w != 0));
}

}  // namespace

hipError_t create_array(hipArray_t* handle, const hipChannelFormatDesc& channels, hipExtent extent,
                        unsigned flags) {
  const auto format = format_of(channels);
  const auto count = count_of(channels);
  if (!format || count == 0 || count == 3 || extent.width == 0) return hipErrorInvalidValue;
  if (extent.height == 0 && extent.depth != 0 && (flags & hipArrayLayered) == 0) {
    return hipErrorInvalidValue;
  }
  if ((flags & ~known_flags) != 0) return hipErrorInvalidValue;
  if ((flags & (hipArrayCubemap | hipArrayTextureGather)) != 0) return hipErrorNotSupported;
  auto array = std::make_unique<hipArray>();
  array->channels = channels;
  array->format = *format;
  array->channel_count = count;
  array->width = extent.width;
  array->height = extent.height;
  array->depth = extent.depth;
  array->flags = flags;
  void* data = nullptr;
  const auto bytes = array->slice_bytes() * array->slices();
  if (const auto error = Memory::instance().allocate(bytes, MemoryKind::array,
                                                     Device::current().ordinal, 0, &data);
      error != hipSuccess) {
    return error;
  }
  array->data = static_cast<std::byte*>(data);
  *handle = array.get();
  const std::lock_guard lock(arrays().guard);
  arrays().all.emplace(*handle, std::move(array));
  return hipSuccess;
}

hipError_t destroy_array(hipArray_t handle) {
  if (handle == nullptr) return hipErrorInvalidValue;
  Device::synchronize_all();
  const std::lock_guard lock(arrays().guard);
  const auto found = arrays().all.find(handle);
  if (found == arrays().all.end()) return hipErrorContextIsDestroyed;
  const auto error = Memory::instance().release(found->second->data);
  arrays().all.erase(found);
  return error;
}

bool is_array(hipArray_const_t array) {
  const std::lock_guard lock(arrays().guard);
  return arrays().all.contains(array);
}

}  // namespace cass::hip

using namespace cass::hip;

std::size_t hipArray::element_bytes() const {
  return static_cast<std::size_t>(channels.x + channels.y + channels.z + channels.w) / 8;
}

hipError_t hipMallocArray(hipArray_t* array, const hipChannelFormatDesc* channels,
                          std::size_t width, std::size_t height, unsigned flags) {
  if (array == nullptr || channels == nullptr) return record(hipErrorInvalidValue);
  return record(create_array(array, *channels, {width, height, 0}, flags));
}

hipError_t hipMalloc3DArray(hipArray_t* array, const hipChannelFormatDesc* channels,
                            hipExtent extent, unsigned flags) {
  if (array == nullptr || channels == nullptr) return record(hipErrorInvalidValue);
  return record(create_array(array, *channels, extent, flags));
}

hipError_t hipArrayCreate(hipArray_t* array, const HIP_ARRAY_DESCRIPTOR* descriptor) {
  if (array == nullptr || descriptor == nullptr) return record(hipErrorInvalidValue);
  const auto& d = *descriptor;
  return record(create_array(array, channels_of(d.Format, d.NumChannels), {d.Width, d.Height, 0},
                             hipArrayDefault));
}

hipError_t hipArray3DCreate(hipArray_t* array, const HIP_ARRAY3D_DESCRIPTOR* descriptor) {
  if (array == nullptr || descriptor == nullptr) return record(hipErrorInvalidValue);
  const auto& d = *descriptor;
  return record(create_array(array, channels_of(d.Format, d.NumChannels),
                             {d.Width, d.Height, d.Depth}, d.Flags));
}

hipError_t hipFreeArray(hipArray_t array) { return record(destroy_array(array)); }
hipError_t hipArrayDestroy(hipArray_t array) { return record(destroy_array(array)); }

hipError_t hipArrayGetInfo(hipChannelFormatDesc* channels, hipExtent* extent, unsigned* flags,
                           hipArray_t array) {
  if (!is_array(array)) return record(hipErrorInvalidHandle);
  if (channels != nullptr) *channels = array->channels;
  if (extent != nullptr) *extent = {array->width, array->height, array->depth};
  if (flags != nullptr) *flags = array->flags;
  return hipSuccess;
}

hipError_t hipGetChannelDesc(hipChannelFormatDesc* channels, hipArray_const_t array) {
  if (channels == nullptr) return record(hipErrorInvalidValue);
  if (!is_array(array)) return record(hipErrorInvalidHandle);
  *channels = array->channels;
  return hipSuccess;
}

hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR* descriptor, hipArray_t array) {
  if (descriptor == nullptr) return record(hipErrorInvalidValue);
  if (!is_array(array)) return record(hipErrorInvalidHandle);
  *descriptor = {array->width, array->height, array->format, array->channel_count};
  return hipSuccess;
}

hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR* descriptor, hipArray_t array) {
  if (descriptor == nullptr) return record(hipErrorInvalidValue);
  if (!is_array(array)) return record(hipErrorInvalidHandle);
  *descriptor = {array->width,  array->height,        array->depth,
                 array->format, array->channel_count, array->flags};
  return hipSuccess;
}

extern "C" HIP_PUBLIC_API hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w,
                                                                    hipChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
