// Reading and loading the ELF file of a code object.
#pragma once

#include "code_object.hpp"

namespace cass::rdna3 {

// Fills everything but `kernels` of the content. False, and `error` filled in, on failure.
bool load_image(std::span<const std::byte> elf, CodeObject::Content& content, Error& error,
                std::vector<std::byte>& metadata,
                std::unordered_map<std::string, Symbol>& all_symbols);

// Kernels from the metadata note and the descriptors in the image.
bool read_kernels(std::span<const std::byte> metadata,
                  const std::unordered_map<std::string, Symbol>& symbols,
                  CodeObject::Content& content, Error& error);

}  // namespace cass::rdna3
