#include "lifting.hpp"

#include <elf.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "result.hpp"

namespace cass::cuda::driver {
namespace {

constexpr const char* socket_variable = "CASS_PORT_LIFTER";
constexpr std::uint32_t wrapper_magic = 0x466243B1;
constexpr std::uint32_t container_magic = 0xBA55ED50;

// The header of a CUDA fat binary container, and what nvcc's code passes instead of one.
struct Container {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t content_bytes;
};

struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
};

std::size_t elf_bytes(const std::byte* image) {
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(image);
  std::uint64_t end = header.e_shoff + std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  end = std::max(end, header.e_phoff + std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image + header.e_shoff);
  for (unsigned k = 0; k < header.e_shnum; ++k) {
    if (sections[k].sh_type == SHT_NOBITS) continue;
    end = std::max(end, sections[k].sh_offset + sections[k].sh_size);
  }
  return end;
}

class Connection {
 public:
  explicit Connection(const char* path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    good_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool good() const { return good_; }

  void write(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (good_ && bytes > 0) {
      const auto count = ::send(socket_, at, bytes, MSG_NOSIGNAL);
      good_ = count > 0;
      if (!good_) return;
      at += count;
      bytes -= static_cast<std::size_t>(count);
    }
  }

  void read(void* data, std::size_t bytes) {
    auto* at = static_cast<char*>(data);
    while (good_ && bytes > 0) {
      const auto count = ::recv(socket_, at, bytes, 0);
      good_ = count > 0;
      if (!good_) return;
      at += count;
      bytes -= static_cast<std::size_t>(count);
    }
  }

 private:
  int socket_;
  bool good_ = false;
};

struct Answer {
  std::uint32_t result, capability;
  std::uint64_t message_bytes, code_bytes, cluster_bytes;
};

LiftedImage failed(int result, const char* message) { return {result, 0, message, {}, {}}; }

}  // namespace

std::span<const std::byte> whole_image(const void* image) {
  const auto* bytes = static_cast<const std::byte*>(image);
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, 1);  // PTX may be shorter than a word
  if (static_cast<unsigned char>(magic) == ELFMAG0 && std::memcmp(image, ELFMAG, SELFMAG) == 0) {
    return {bytes, elf_bytes(bytes)};
  }
  if (::strnlen(static_cast<const char*>(image), sizeof magic) == sizeof magic) {
    std::memcpy(&magic, image, sizeof magic);
  }
  if (magic == wrapper_magic) return whole_image(static_cast<const Wrapper*>(image)->data);
  if (magic == container_magic) {
    const auto& container = *static_cast<const Container*>(image);
    return {bytes, container.header_bytes + container.content_bytes};
  }
  return {bytes, std::strlen(static_cast<const char*>(image))};
}

LiftedImage lift(std::span<const std::byte> image) {
  const char* path = std::getenv(socket_variable);
  if (path == nullptr) {
    return failed(not_supported,
                  "start the program with `cass run-binary`: CASS_PORT_LIFTER is not set");
  }
  Connection connection(path);
  const std::uint64_t size = image.size();
  connection.write(&size, sizeof size);
  connection.write(image.data(), image.size());
  Answer answer{};
  connection.read(&answer, sizeof answer);
  if (!connection.good()) return failed(unknown, "device code was not lifted: no answer");
  LiftedImage made;
  made.result = static_cast<int>(answer.result);
  made.capability = static_cast<int>(answer.capability);
  made.message.resize(answer.message_bytes);
  made.code.resize(answer.code_bytes);
  made.clusters.resize(answer.cluster_bytes);
  connection.read(made.message.data(), made.message.size());
  connection.read(made.code.data(), made.code.size());
  connection.read(made.clusters.data(), made.clusters.size());
  return connection.good() ? made : failed(unknown, "device code was not lifted: a short answer");
}

}  // namespace cass::cuda::driver
