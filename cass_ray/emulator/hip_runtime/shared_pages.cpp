// Pages of the program that become memory of both sides in place, and its own again.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <system_error>
#include <thread>

#include "remote_channel.hpp"
#include "shared_pages.hpp"

namespace cass::hip {
namespace {

constexpr std::uintptr_t page = 4096;

// Puts `made`, a mapping of the same size, in place of the pages, with their content.
bool replace(std::byte* pages, std::byte* made, std::size_t bytes) {
  bool done = false;
  const auto work = [&] {
    std::memcpy(made, pages, bytes);
    done = ::mremap(made, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == pages;
  };
  // On a thread of its own: the pages may be part of the caller's stack, which rests meanwhile.
  try {
    std::thread(work).join();
  } catch (const std::system_error&) {
    return false;
  }
  return done;
}

bool are_mapped(std::byte* pages, std::size_t bytes) {
  // It fails exactly where a page is not mapped; it changes nothing.
  return ::msync(pages, bytes, MS_ASYNC) == 0;
}

}  // namespace

bool RemoteDevice::share(std::byte* pages, std::size_t bytes) {
  if (!are_mapped(pages, bytes)) return false;
  const Lease channel(*this);
  if (!channel) return false;
  device::Share request;
  request.address = reinterpret_cast<std::uint64_t>(pages);
  request.bytes = bytes;
  const auto answer = ask(*channel, device::bytes_of(request));
  if (!answer || answer->reply.status != device::Status::ok || !answer->file) return false;
  void* made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, answer->file.number(), 0);
  if (made != MAP_FAILED && replace(pages, static_cast<std::byte*>(made), bytes)) return true;
  if (made != MAP_FAILED) ::munmap(made, bytes);
  device::Unshare back;
  back.address = request.address;
  static_cast<void>(ask(*channel, device::bytes_of(back)));
  return false;
}

void RemoteDevice::unshare(std::byte* pages, std::size_t bytes) {
  void* made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // Without memory for it the pages stay shared, which the program does not notice.
  if (made != MAP_FAILED && !replace(pages, static_cast<std::byte*>(made), bytes)) {
    ::munmap(made, bytes);
  }
  const Lease channel(*this);
  if (!channel) return;
  device::Unshare request;
  request.address = reinterpret_cast<std::uint64_t>(pages);
  static_cast<void>(ask(*channel, device::bytes_of(request)));
}

SharedPages& SharedPages::instance() {
  static auto& pages = *new SharedPages;
  return pages;
}

bool SharedPages::take(std::byte* start, std::size_t bytes) {
  auto at = reinterpret_cast<std::uintptr_t>(start) / page * page;
  const auto first = at;
  const auto end = (reinterpret_cast<std::uintptr_t>(start) + bytes + page - 1) / page * page;
  while (at < end) {
    auto next = areas_.upper_bound(at);
    if (next != areas_.begin()) {
      auto& [known, area] = *std::prev(next);
      if (at < known + area.bytes) {
        ++area.users;
        at = known + area.bytes;
        continue;
      }
    }
    const auto gap_end = next == areas_.end() ? end : std::min(end, next->first);
    auto* pages = reinterpret_cast<std::byte*>(at);
    if (!RemoteDevice::instance().share(pages, gap_end - at)) {
      if (at > first) drop(reinterpret_cast<std::byte*>(first), at - first);
      return false;
    }
    areas_.emplace(at, Area{gap_end - at, 1});
    at = gap_end;
  }
  return true;
}

void SharedPages::drop(std::byte* start, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(start) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(start) + bytes;
  auto at = areas_.upper_bound(first);
  if (at != areas_.begin()) --at;
  while (at != areas_.end() && at->first < end) {
    auto& [known, area] = *at;
    const bool touched = known + area.bytes > first;
    if (touched && --area.users == 0) {
      RemoteDevice::instance().unshare(reinterpret_cast<std::byte*>(known), area.bytes);
      at = areas_.erase(at);
    } else {
      ++at;
    }
  }
}

}  // namespace cass::hip
