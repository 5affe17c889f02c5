// Arrays, textures and surfaces. HIP's descriptions are the first part of CUDA's; what follows them
// there (trilinear optimization) has no effect on what is provided, but for seamless cube maps.
#include <algorithm>
#include <bit>
#include <cstring>

#include "cube_maps.hpp"
#include "forward.hpp"

#pragma clang diagnostic ignored \
    "-Wdeprecated-declarations"  // hipMemcpyToArray, hipMemcpyFromArray

using namespace cass::cuda;

static_assert(offsetof(ResourceDescription, res) == offsetof(hipResourceDesc, res));
static_assert(sizeof(ResourceDescription) >= sizeof(hipResourceDesc));
static_assert(offsetof(TextureDescription, borderColor) == offsetof(hipTextureDesc, borderColor));
static_assert(offsetof(TextureDescription, maxMipmapLevelClamp) ==
              offsetof(hipTextureDesc, maxMipmapLevelClamp));
static_assert(offsetof(ResourceViewDescription, lastLayer) ==
              offsetof(hipResourceViewDesc, lastLayer));

namespace {

// The part of a description that HIP has; null stays null.
template <typename Hip, typename Cuda>
const Hip* common(const Cuda* given) {
  return reinterpret_cast<const Hip*>(given);
}

// What `query` fills of a description; the rest is zero, as it must be where it is given back.
template <typename Hip, typename Cuda, typename Handle>
int described(hipError_t (*query)(Hip*, Handle), Cuda* made, Handle handle) {
  if (made == nullptr) return fail(invalid_value);
  Hip found{};
  const auto result = query(&found, handle);
  if (result != hipSuccess) return finish(result);
  *made = {};
  std::memcpy(made, &found, sizeof found);
  return success;
}

}  // namespace

CUDA_API int cudaMallocArray(hipArray_t* made, const hipChannelFormatDesc* format,
                             std::size_t width, std::size_t height, unsigned flags) {
  const auto result = hipMallocArray(made, format, width, height, flags & ~hipArrayTextureGather);
  if (result == hipSuccess) keep_array_flags(*made, flags);
  return finish(result);
}
CUDA_API int cudaMalloc3DArray(hipArray_t* made, const hipChannelFormatDesc* format,
                               hipExtent extent, unsigned flags) {
  if ((flags & hipArrayCubemap) != 0) return create_cube_array(made, format, extent, flags);
  const auto result = hipMalloc3DArray(made, format, extent, flags & ~hipArrayTextureGather);
  if (result == hipSuccess) keep_array_flags(*made, flags);
  return finish(result);
}
CUDA_API int cudaFreeArray(hipArray_t array) {
  forget_array(array);
  return finish(hipFreeArray(array));
}
CUDA_API int cudaArrayGetInfo(hipChannelFormatDesc* format, hipExtent* extent, unsigned* flags,
                              hipArray_t array) {
  const auto result = hipArrayGetInfo(format, extent, flags, array);
  const auto given = array_flags(array);
  if (result == hipSuccess && flags != nullptr && given) *flags = *given;
  return finish(result);
}
FORWARD(cudaGetChannelDesc, hipGetChannelDesc,
        (hipChannelFormatDesc * format, hipArray_const_t array), (format, array))

FORWARD_BOTH(cudaMemcpy2DToArray, hipMemcpy2DToArray,
             (hipArray_t target, std::size_t x, std::size_t y, const void* source,
              std::size_t pitch, std::size_t width, std::size_t height, hipMemcpyKind kind),
             (target, x, y, source, pitch, width, height, kind))
FORWARD_STREAM(cudaMemcpy2DToArrayAsync, hipMemcpy2DToArrayAsync,
               (hipArray_t target, std::size_t x, std::size_t y, const void* source,
                std::size_t pitch, std::size_t width, std::size_t height, hipMemcpyKind kind,
                hipStream_t stream),
               (target, x, y, source, pitch, width, height, kind, stream))
FORWARD_BOTH(cudaMemcpy2DFromArray, hipMemcpy2DFromArray,
             (void* target, std::size_t pitch, hipArray_const_t source, std::size_t x,
              std::size_t y, std::size_t width, std::size_t height, hipMemcpyKind kind),
             (target, pitch, source, x, y, width, height, kind))
FORWARD_STREAM(cudaMemcpy2DFromArrayAsync, hipMemcpy2DFromArrayAsync,
               (void* target, std::size_t pitch, hipArray_const_t source, std::size_t x,
                std::size_t y, std::size_t width, std::size_t height, hipMemcpyKind kind,
                hipStream_t stream),
               (target, pitch, source, x, y, width, height, kind, stream))
FORWARD_BOTH(cudaMemcpy2DArrayToArray, hipMemcpy2DArrayToArray,
             (hipArray_t target, std::size_t target_x, std::size_t target_y,
              hipArray_const_t source, std::size_t source_x, std::size_t source_y,
              std::size_t width, std::size_t height, hipMemcpyKind kind),
             (target, target_x, target_y, source, source_x, source_y, width, height, kind))
FORWARD_BOTH(cudaMemcpyToArray, hipMemcpyToArray,
             (hipArray_t target, std::size_t x, std::size_t y, const void* source, std::size_t size,
              hipMemcpyKind kind),
             (target, x, y, source, size, kind))
FORWARD_BOTH(cudaMemcpyFromArray, hipMemcpyFromArray,
             (void* target, hipArray_const_t source, std::size_t x, std::size_t y, std::size_t size,
              hipMemcpyKind kind),
             (target, source, x, y, size, kind))

// HIP's samplers have zeros beyond edges, and no other border.
static bool has_border_color(const TextureDescription& texture) {
  const auto is_border = [](int mode) { return mode == hipAddressModeBorder; };
  // Bits, which may be those of integers.
  const auto is_set = [](float part) { return std::bit_cast<std::uint32_t>(part) != 0; };
  return std::ranges::any_of(texture.addressMode, is_border) &&
         std::ranges::any_of(texture.borderColor, is_set);
}

CUDA_API int cudaCreateTextureObject(hipTextureObject_t* made, const ResourceDescription* resource,
                                     const TextureDescription* texture,
                                     const ResourceViewDescription* view) {
  if (texture != nullptr && has_border_color(*texture)) {
    return unsupported("a border color of a texture");
  }
  if (resource != nullptr && texture != nullptr && is_cube_map(*resource)) {
    return create_cube_texture(made, *resource, *texture, view);
  }
  return finish(hipCreateTextureObject(made, common<hipResourceDesc>(resource),
                                       common<hipTextureDesc>(texture),
                                       common<hipResourceViewDesc>(view)));
}
CUDA_API int cudaDestroyTextureObject(hipTextureObject_t texture) {
  forget_cube_texture(texture);
  return finish(hipDestroyTextureObject(texture));
}

CUDA_API int cudaGetTextureObjectResourceDesc(ResourceDescription* made,
                                              hipTextureObject_t texture) {
  return described(hipGetTextureObjectResourceDesc, made, texture);
}
CUDA_API int cudaGetTextureObjectTextureDesc(TextureDescription* made, hipTextureObject_t texture) {
  if (const auto given = cube_texture(texture); given && made != nullptr) {
    *made = *given;
    return success;
  }
  return described(hipGetTextureObjectTextureDesc, made, texture);
}
CUDA_API int cudaGetTextureObjectResourceViewDesc(ResourceViewDescription* made,
                                                  hipTextureObject_t texture) {
  return described(hipGetTextureObjectResourceViewDesc, made, texture);
}

CUDA_API int cudaCreateSurfaceObject(hipSurfaceObject_t* made,
                                     const ResourceDescription* resource) {
  return finish(hipCreateSurfaceObject(made, common<hipResourceDesc>(resource)));
}
FORWARD(cudaDestroySurfaceObject, hipDestroySurfaceObject, (hipSurfaceObject_t surface), (surface))
