// The extent of device code that a program hands over by its address alone.
#pragma once

#include <cstddef>

namespace cass::hip {

// Bytes of the ELF file at `image`, by its headers; for anything else a bound that is never
// reached, because its own headers tell.
std::size_t image_size(const std::byte* image);

}  // namespace cass::hip
