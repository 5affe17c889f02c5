// Compressed offload bundles ("CCOB", clang's --offload-compress).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cass::hip {

bool is_compressed_bundle(std::span<const std::byte> image);

// The bundle inside; false, and `problem` says why, where it is damaged or the library that
// decompresses (libzstd.so.1 or libz.so.1, loaded when needed) is not installed.
bool expand_bundle(std::span<const std::byte> image, std::vector<std::byte>& bundle,
                   std::string& problem);

}  // namespace cass::hip
