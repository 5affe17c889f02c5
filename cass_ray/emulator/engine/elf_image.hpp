// Reading and loading the ELF file of a code object.
#pragma once

#include "code_object.hpp"

namespace cass::amdgpu {

// The metadata notes of a code object, parts of its file. Linking kernels that were assembled one
// by one, as Tensile does for rocBLAS, leaves a note for each.
using MetadataNotes = std::vector<std::span<const std::byte>>;

// Fills everything but `kernels` of the content. False, and `error` filled in, on failure.
bool load_image(std::span<const std::byte> elf, CodeObject::Content& content, Error& error,
                MetadataNotes& metadata, std::unordered_map<std::string, Symbol>& all_symbols);

// Kernels from the metadata notes and the descriptors in the image.
bool read_kernels(const MetadataNotes& metadata,
                  const std::unordered_map<std::string, Symbol>& symbols,
                  CodeObject::Content& content, Error& error);

}  // namespace cass::amdgpu
