// Cube maps: HIP has none, so that they are arrays of layers, six faces each. Lifted code chooses the
// layer (docs/lift.md); what the program said of them is kept here.
#pragma once

#include <optional>

#include "abi.hpp"

namespace cass::cuda {

// cudaMalloc3DArray with cudaArrayCubemap.
int create_cube_array(hipArray_t* made, const hipChannelFormatDesc* format, hipExtent extent,
                      unsigned flags);
void forget_cube_array(hipArray_const_t array);

// What an array of cubes was made with; nothing for other arrays.
std::optional<unsigned> cube_array_flags(hipArray_const_t array);
bool is_cube_map(const ResourceDescription& resource);

// cudaCreateTextureObject for such an array.
int create_cube_texture(hipTextureObject_t* made, const ResourceDescription& resource,
                        const TextureDescription& texture, const ResourceViewDescription* view);
void forget_cube_texture(hipTextureObject_t texture);

// How a texture of cubes was described; nothing for other textures.
std::optional<TextureDescription> cube_texture(hipTextureObject_t texture);

}  // namespace cass::cuda
