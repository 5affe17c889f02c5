#include "transcript.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "hash.hpp"

namespace cass::device {
namespace {

// Data beyond this many bytes of a run is represented by its digest alone.
constexpr off_t max_bytes = off_t{32} << 20;

struct Record {
  std::uint32_t kind;
  std::uint32_t stored;  // bytes of data behind the record
  std::uint64_t key;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t written;
  std::uint64_t digest;
};
static_assert(sizeof(Record) == 48);

}  // namespace

Transcript::Transcript(int file) : file_(file) {
  if (file_ >= 0) ::fcntl(file_, F_SETFL, O_APPEND);
}

void Transcript::host_to_device(MemoryPlace place, std::span<const std::byte> data) {
  append(Kind::in, place, data, 0, false);
}

void Transcript::shared_with_device(MemoryPlace place, std::span<const std::byte> data) {
  append(Kind::shared_in, place, data, 0, false);
}

void Transcript::shared_with_host(MemoryPlace place, std::span<const std::byte> data) {
  append(Kind::shared_out, place, data, data.size(), false);
}

void Transcript::device_to_host(MemoryPlace place, std::span<const std::byte> data,
                                std::uint64_t written) {
  append(Kind::out, place, data, written, true);
}

void Transcript::launch(std::string_view kernel) {
  append(Kind::launch, {}, std::as_bytes(std::span(kernel)), 0, true);
}

void Transcript::failed_launch(std::string_view kernel) {
  append(Kind::failed_launch, {}, std::as_bytes(std::span(kernel)), 0, true);
}

void Transcript::append(Kind kind, MemoryPlace place, std::span<const std::byte> data,
                        std::uint64_t written, bool with_data) {
  if (!enabled()) return;
  with_data = with_data && ::lseek(file_, 0, SEEK_END) < max_bytes;
  Record record{static_cast<std::uint32_t>(kind),
                with_data ? static_cast<std::uint32_t>(data.size()) : 0,
                place.key,
                place.offset,
                data.size(),
                written,
                hash_of(data)};
  // One call: records of several threads and processes do not mix.
  std::vector<std::byte> whole(sizeof record + record.stored);
  std::memcpy(whole.data(), &record, sizeof record);
  std::memcpy(whole.data() + sizeof record, data.data(), record.stored);
  [[maybe_unused]] const auto count = ::write(file_, whole.data(), whole.size());
}

}  // namespace cass::device
