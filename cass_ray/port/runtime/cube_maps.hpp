// Arrays of kinds that HIP has not; what the program said of them is kept here. Cube maps are
// arrays of layers, six faces each, where lifted code chooses the layer
// (docs/lift/what_is_lifted.md). For gathers AMD's hardware takes any array.
#pragma once

#include <optional>

#include "abi.hpp"

namespace cass::cuda {

// cudaMalloc3DArray with cudaArrayCubemap.
int create_cube_array(hipArray_t* made, const hipChannelFormatDesc* format, hipExtent extent,
                      unsigned flags);

// What an array was made with, to be kept where HIP was told something else.
void keep_array_flags(hipArray_const_t array, unsigned flags);
std::optional<unsigned> array_flags(hipArray_const_t array);
void forget_array(hipArray_const_t array);
bool is_cube_map(const ResourceDescription& resource);

// cudaCreateTextureObject for such an array.
int create_cube_texture(hipTextureObject_t* made, const ResourceDescription& resource,
                        const TextureDescription& texture, const ResourceViewDescription* view);
void forget_cube_texture(hipTextureObject_t texture);

// How a texture of cubes was described; nothing for other textures.
std::optional<TextureDescription> cube_texture(hipTextureObject_t texture);

}  // namespace cass::cuda
