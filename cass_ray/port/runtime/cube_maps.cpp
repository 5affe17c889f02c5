#include "cube_maps.hpp"

#include <map>
#include <mutex>

#include "../common/report.hpp"
#include "status.hpp"

namespace cass::cuda {
namespace {

// What programs said, by handle.
template <typename Handle, typename Said>
class Record {
 public:
  void keep(Handle handle, const Said& said) {
    const std::lock_guard lock(guard_);
    said_[handle] = said;
  }
  void forget(Handle handle) {
    const std::lock_guard lock(guard_);
    said_.erase(handle);
  }
  std::optional<Said> find(Handle handle) {
    const std::lock_guard lock(guard_);
    const auto found = said_.find(handle);
    return found == said_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::mutex guard_;
  std::map<Handle, Said> said_;
};

Record<hipArray_const_t, unsigned>& arrays() {
  static auto& known = *new Record<hipArray_const_t, unsigned>;
  return known;
}

Record<hipTextureObject_t, TextureDescription>& textures() {
  static auto& known = *new Record<hipTextureObject_t, TextureDescription>;
  return known;
}

constexpr std::size_t faces = 6;

// Six square faces; a multiple of six with the flag of layers.
bool are_cubes(const hipExtent& extent, unsigned flags) {
  const bool layered = (flags & hipArrayLayered) != 0;
  const bool whole =
      layered ? extent.depth != 0 && extent.depth % faces == 0 : extent.depth == faces;
  return whole && extent.width == extent.height;
}

}  // namespace

int create_cube_array(hipArray_t* made, const hipChannelFormatDesc* format, hipExtent extent,
                      unsigned flags) {
  if (!are_cubes(extent, flags)) return fail(invalid_value);
  const unsigned as_layers = (flags & ~hipArrayCubemap) | hipArrayLayered;
  const auto result = hipMalloc3DArray(made, format, extent, as_layers);
  if (result == hipSuccess) keep_array_flags(*made, flags);
  return finish(result);
}

void keep_array_flags(hipArray_const_t array, unsigned flags) { arrays().keep(array, flags); }

std::optional<unsigned> array_flags(hipArray_const_t array) { return arrays().find(array); }

void forget_array(hipArray_const_t array) { arrays().forget(array); }

bool is_cube_map(const ResourceDescription& resource) {
  if (resource.resType != hipResourceTypeArray) return false;
  const auto flags = array_flags(static_cast<hipArray_const_t>(resource.res.array));
  return flags && (*flags & hipArrayCubemap) != 0;
}

// An H200 takes places on a face as normalized, whatever is said of coordinates. Beyond the edge of
// a seamless map it has the next face, which a layer does not: only the nearest texel is the same.
int create_cube_texture(hipTextureObject_t* made, const ResourceDescription& resource,
                        const TextureDescription& texture, const ResourceViewDescription* view) {
  auto as_layers = *reinterpret_cast<const hipTextureDesc*>(&texture);
  as_layers.normalizedCoords = 1;
  if (texture.seamlessCubemap != 0) {
    if (texture.filterMode == hipFilterModeLinear) {
      report_once("a texture of a cube map that is filtered across edges is not supported");
      return fail(not_supported);
    }
    for (auto& mode : as_layers.addressMode) mode = hipAddressModeClamp;
  }
  const auto result =
      hipCreateTextureObject(made, reinterpret_cast<const hipResourceDesc*>(&resource), &as_layers,
                             reinterpret_cast<const hipResourceViewDesc*>(view));
  if (result == hipSuccess) textures().keep(*made, texture);
  return finish(result);
}

void forget_cube_texture(hipTextureObject_t texture) { textures().forget(texture); }

std::optional<TextureDescription> cube_texture(hipTextureObject_t texture) {
  return textures().find(texture);
}

}  // namespace cass::cuda
