// HIP arrays: images in device memory, stored row by row without padding.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <memory>

struct hipArray {
  std::byte* data = nullptr;
  hipChannelFormatDesc channels{};
  hipArray_Format format = HIP_AD_FORMAT_UNSIGNED_INT8;
  unsigned channel_count = 0;
  std::size_t width = 0;   // elements
  std::size_t height = 0;  // 0 for one dimension
  std::size_t depth = 0;   // 0 for one or two dimensions; layers where `flags` says so
  unsigned flags = 0;

  std::size_t element_bytes() const;
  std::size_t rows() const { return height == 0 ? 1 : height; }
  std::size_t slices() const { return depth == 0 ? 1 : depth; }
  std::size_t pitch() const { return width * element_bytes(); }
  std::size_t slice_bytes() const { return pitch() * rows(); }
};

namespace cass::hip {

// hipErrorInvalidValue for a shape or a format that HIP does not know.
hipError_t create_array(hipArray_t* array, const hipChannelFormatDesc& channels, hipExtent extent,
                        unsigned flags);
hipError_t destroy_array(hipArray_t array);
bool is_array(hipArray_const_t array);

}  // namespace cass::hip
