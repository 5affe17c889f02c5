#include "compressed_bundle.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>

namespace cass::hip {
namespace {

constexpr char magic[4] = {'C', 'C', 'O', 'B'};
constexpr std::uint16_t zlib_method = 0;
constexpr std::uint16_t zstd_method = 1;
constexpr std::size_t largest_bundle = std::size_t{4} << 30;
// No format packs more: a block of zstd, at most 128 KiB, takes 4 bytes. A header that claims more
// must not cost the memory.
constexpr std::size_t largest_ratio = std::size_t{32} << 10;

// LLVM's CompressedOffloadBundle: magic, version, method, then the sizes of the file and of its
// content (32 bits each in version 2, 64 in version 3; version 1 has no file size) and a hash.
struct Header {
  std::uint16_t method = 0;
  std::size_t header_bytes = 0;
  std::size_t file_bytes = 0;
  std::size_t content_bytes = 0;
};

template <typename Number>
Number read(const std::byte* at) {
  Number value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool parse(std::span<const std::byte> image, Header& header, std::string& problem) {
  const auto version = read<std::uint16_t>(image.data() + 4);
  header.method = read<std::uint16_t>(image.data() + 6);
  switch (version) {
    case 2:
      header.file_bytes = read<std::uint32_t>(image.data() + 8);
      header.content_bytes = read<std::uint32_t>(image.data() + 12);
      header.header_bytes = 24;
      break;
    case 3:
      header.file_bytes = read<std::uint64_t>(image.data() + 8);
      header.content_bytes = read<std::uint64_t>(image.data() + 16);
      header.header_bytes = 32;
      break;
    default:
      problem = "bundle format version " + std::to_string(version) +
                " is not known; compile with --no-offload-compress";
      return false;
  }
  if (header.file_bytes < header.header_bytes || header.file_bytes > image.size() ||
      header.content_bytes > largest_bundle ||
      header.content_bytes / largest_ratio > header.file_bytes) {
    problem = "the header's sizes are impossible";
    return false;
  }
  return true;
}

void* library_function(const char* library, const char* name, std::string& problem) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* function = handle == nullptr ? nullptr : ::dlsym(handle, name);
  if (function == nullptr) {
    problem = std::string(library) +
              " is needed to decompress it: install it or compile with --no-offload-compress";
  }
  return function;
}

bool inflate_zstd(std::span<const std::byte> from, std::span<std::byte> to, std::string& problem) {
  using Decompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  const auto decompress =
      reinterpret_cast<Decompress>(library_function("libzstd.so.1", "ZSTD_decompress", problem));
  if (decompress == nullptr) return false;
  if (decompress(to.data(), to.size(), from.data(), from.size()) == to.size()) return true;
  problem = "its zstd stream is damaged";
  return false;
}

bool inflate_zlib(std::span<const std::byte> from, std::span<std::byte> to, std::string& problem) {
  using Uncompress = int (*)(unsigned char*, unsigned long*, const unsigned char*, unsigned long);
  const auto uncompress =
      reinterpret_cast<Uncompress>(library_function("libz.so.1", "uncompress", problem));
  if (uncompress == nullptr) return false;
  auto size = static_cast<unsigned long>(to.size());
  const auto status = uncompress(reinterpret_cast<unsigned char*>(to.data()), &size,
                                 reinterpret_cast<const unsigned char*>(from.data()), from.size());
  if (status == 0 && size == to.size()) return true;
  problem = "its zlib stream is damaged";
  return false;
}

}  // namespace

bool is_compressed_bundle(std::span<const std::byte> image) {
  return image.size() >= 32 && std::memcmp(image.data(), magic, sizeof magic) == 0;
}

bool expand_bundle(std::span<const std::byte> image, std::vector<std::byte>& bundle,
                   std::string& problem) {
  Header header;
  if (!parse(image, header, problem)) return false;
  const auto content = image.first(header.file_bytes).subspan(header.header_bytes);
  bundle.resize(header.content_bytes);
  switch (header.method) {
    case zstd_method: return inflate_zstd(content, bundle, problem);
    case zlib_method: return inflate_zlib(content, bundle, problem);
    default:
      problem = "compression method " + std::to_string(header.method) + " is not known";
      return false;
  }
}

}  // namespace cass::hip
