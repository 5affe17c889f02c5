#include "remote_device.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "../device/wire.hpp"
#include "../engine/aperture.hpp"
#include "errors.hpp"
#include "remote_channel.hpp"
#include "remote_start.hpp"

namespace cass::hip {
namespace {

// Up to here bytes travel in messages: the staging memory costs page faults at first.
constexpr std::size_t largest_in_message = std::size_t{32} << 10;
static_assert(largest_in_message <= device::max_payload);

}  // namespace

// ---- code objects

RemoteCode::~RemoteCode() { RemoteDevice::instance().unload(number); }

const amdgpu::Kernel* RemoteCode::kernel(std::string_view name) const {
  const auto found = std::ranges::find(description_.kernels, name, &amdgpu::Kernel::name);
  return found == description_.kernels.end() ? nullptr : &*found;
}

std::optional<amdgpu::Symbol> RemoteCode::variable(std::string_view name) const {
  const auto found = description_.variables.find(std::string(name));
  if (found == description_.variables.end()) return std::nullopt;
  return found->second;
}

std::uint32_t RemoteCode::number_of(const amdgpu::Kernel& kernel) const {
  return static_cast<std::uint32_t>(&kernel - description_.kernels.data());
}

// ---- connection

RemoteDevice& RemoteDevice::instance() {
  static auto& device = *new RemoteDevice;  // never destroyed: streams' threads outlive main
  return device;
}

RemoteDevice::RemoteDevice() : state_(new State) {}

bool RemoteDevice::connect() {
  State& state = *state_;
  if (!amdgpu::reserve_aperture()) {
    report("the addresses of device memory are in use in this process");
    return false;
  }
  RemoteStart start = start_remote();
  state.connection = std::move(start.connection);
  state.started_here = start.started_here;
  state.owner = ::getpid();
  return static_cast<bool>(state.connection);
}

bool RemoteDevice::usable() {
  State& state = *state_;
  std::call_once(state.connected, [&] {
    if (!connect()) state.lost = true;
  });
  if (state.lost || state.finished) return false;
  if (state.owner == ::getpid()) return true;
  report_once("this process was forked by one that had used the device: it has none");
  return false;
}

void RemoteDevice::lose() {
  State& state = *state_;
  if (!state.lost.exchange(true) && !state.finished) report("the device process is gone");
}

std::unique_ptr<RemoteDevice::Channel> RemoteDevice::open_channel() {
  auto ends = device::socket_pair();
  const std::byte asking[1] = {};
  if (!ends ||
      !device::send_message(state_->connection.number(), asking, {}, ends->theirs.number())) {
    return nullptr;
  }
  ends->theirs = {};
  auto channel = std::make_unique<Channel>();
  channel->socket = std::move(ends->ours);
  auto answer = ask(*channel, device::bytes_of(device::Hello{}));
  if (!answer || !answer->file) return nullptr;
  void* memory = ::mmap(nullptr, device::staging_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        answer->file.number(), 0);
  if (memory == MAP_FAILED) return nullptr;
  channel->staging = static_cast<std::byte*>(memory);
  state_->late = answer->reply.value != 0;
  return channel;
}

// Sends the request and reads up to its reply; prints the device output that comes before.
std::optional<RemoteDevice::Answer> RemoteDevice::ask(Channel& channel,
                                                      std::span<const std::byte> request,
                                                      std::span<const std::byte> payload) {
  bool printed = false;
  if (device::send_message(channel.socket.number(), request, payload)) {
    while (auto received = channel.receiver.receive(channel.socket.number(), channel.buffer)) {
      Answer answer{{}, {}, std::move(received->file)};
      if (received->bytes.size() < sizeof answer.reply) break;
      std::memcpy(static_cast<void*>(&answer.reply), received->bytes.data(), sizeof answer.reply);
      answer.bytes = received->bytes.subspan(sizeof answer.reply);
      if (answer.reply.kind == device::MessageKind::reply) {
        if (printed) std::fflush(stdout);
        return answer;
      }
      const bool error = answer.reply.kind == device::MessageKind::standard_error;
      std::fwrite(answer.bytes.data(), 1, answer.bytes.size(), error ? stderr : stdout);
      printed = true;
    }
  }
  lose();
  return std::nullopt;
}

void RemoteDevice::finish() {
  State& state = *state_;
  if (!state.connection || !state.started_here || state.owner != ::getpid()) return;
  if (state.finished.exchange(true)) return;
  ::shutdown(state.connection.number(), SHUT_WR);
  std::array<std::byte, 16> nothing;
  static_cast<void>(device::receive_message(state.connection.number(), nothing));
}

namespace {

__attribute__((destructor)) void finish_with_the_program() { RemoteDevice::instance().finish(); }

}  // namespace

// ---- memory

std::byte* RemoteDevice::allocate(device::MemoryKind kind, std::size_t bytes) {
  const Lease channel(*this);
  if (!channel) return nullptr;
  device::Allocate request;
  request.kind = kind;
  request.bytes = bytes;
  const auto answer = ask(*channel, device::bytes_of(request));
  if (!answer || answer->reply.status != device::Status::ok) return nullptr;
  auto* block = reinterpret_cast<std::byte*>(answer->reply.value);
  if (!answer->file) return block;
  if (::mmap(block, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, answer->file.number(),
             0) == MAP_FAILED) {
    device::Release back;
    back.address = answer->reply.value;
    static_cast<void>(ask(*channel, device::bytes_of(back)));
    return nullptr;
  }
  return block;
}

void RemoteDevice::release(std::byte* block, std::size_t bytes, bool shared) {
  const Lease channel(*this);
  if (!channel) return;
  if (shared) {
    ::mmap(block, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }
  device::Release request;
  request.address = reinterpret_cast<std::uint64_t>(block);
  static_cast<void>(ask(*channel, device::bytes_of(request)));
}

hipError_t RemoteDevice::fill(const device::Fill& request) {
  const Lease channel(*this);
  const auto answer = channel ? ask(*channel, device::bytes_of(request)) : std::optional<Answer>();
  return answer && answer->reply.status == device::Status::ok ? hipSuccess : hipErrorUnknown;
}

hipError_t RemoteDevice::copy(const CopySide& to, const CopySide& from, std::size_t width,
                              std::size_t rows) {
  if (rows > 1 && to.pitch == width && from.pitch == width) {
    width *= rows;
    rows = 1;
  }
  const Lease channel(*this);
  if (!channel) return hipErrorUnknown;
  if (to.remote && from.remote) return copy_rows(*channel, to, from, width, rows);
  const auto at = [](const CopySide& side, std::size_t y, std::size_t x) {
    return CopySide{side.start + y * side.pitch + x, side.pitch, side.remote};
  };
  // As many whole rows at a time as the staging memory holds, else a part of one.
  const std::size_t step = std::clamp<std::size_t>(device::staging_bytes / width, 1, rows);
  const std::size_t part = std::min(width, device::staging_bytes);
  for (std::size_t y = 0; y < rows; y += step) {
    for (std::size_t x = 0; x < width; x += part) {
      const auto error = copy_rows(*channel, at(to, y, x), at(from, y, x),
                                   std::min(part, width - x), std::min(step, rows - y));
      if (error != hipSuccess) return error;
    }
  }
  return hipSuccess;
}

// What the staging memory holds.
hipError_t RemoteDevice::copy_rows(Channel& channel, const CopySide& to, const CopySide& from,
                                   std::size_t width, std::size_t rows) {
  const std::size_t bytes = width * rows;
  const auto host = bytes <= largest_in_message ? device::Place::message : device::Place::staging;
  device::Copy request;
  request.width = width;
  request.rows = rows;
  request.to_place = to.remote ? device::Place::memory : host;
  request.from_place = from.remote ? device::Place::memory : host;
  if (to.remote) request.to = reinterpret_cast<std::uint64_t>(to.start);
  if (from.remote) request.from = reinterpret_cast<std::uint64_t>(from.start);
  request.to_pitch = to.pitch;
  request.from_pitch = from.pitch;
  std::span<const std::byte> payload;
  if (!from.remote) {
    std::byte* packed = host == device::Place::message ? channel.buffer.data() : channel.staging;
    for (std::size_t y = 0; y < rows; ++y) {
      std::memcpy(packed + y * width, from.start + y * from.pitch, width);
    }
    if (host == device::Place::message) payload = {packed, bytes};
  }
  const auto answer = ask(channel, device::bytes_of(request), payload);
  if (!answer || answer->reply.status != device::Status::ok) return hipErrorUnknown;
  if (to.remote) return hipSuccess;
  if (host == device::Place::message && answer->bytes.size() != bytes) return hipErrorUnknown;
  const std::byte* packed = host == device::Place::message ? answer->bytes.data() : channel.staging;
  for (std::size_t y = 0; y < rows; ++y) {
    std::memcpy(to.start + y * to.pitch, packed + y * width, width);
  }
  return hipSuccess;
}

// ---- code

std::shared_ptr<RemoteCode> RemoteDevice::load(std::span<const std::byte> elf,
                                               amdgpu::Error& error) {
  const Lease channel(*this);
  error = {amdgpu::ErrorKind::out_of_memory, "there is no device process"};
  if (!channel) return nullptr;
  while (!elf.empty()) {
    device::Upload piece;
    piece.bytes = std::min(elf.size(), device::staging_bytes);
    std::memcpy(channel->staging, elf.data(), piece.bytes);
    if (!ask(*channel, device::bytes_of(piece))) return nullptr;
    elf = elf.subspan(piece.bytes);
  }
  const auto loaded = ask(*channel, device::bytes_of(device::Load{}));
  if (!loaded) return nullptr;
  if (loaded->reply.status != device::Status::ok) {
    const bool other = loaded->reply.status == device::Status::wrong_target;
    error = {other ? amdgpu::ErrorKind::wrong_target : amdgpu::ErrorKind::malformed,
             {reinterpret_cast<const char*>(loaded->bytes.data()), loaded->bytes.size()}};
    return nullptr;
  }
  const std::uint64_t number = loaded->reply.value;
  std::vector<std::byte> bytes;
  for (;;) {
    const auto piece = ask(*channel, device::bytes_of(device::Fetch{}));
    if (!piece || piece->reply.value > device::staging_bytes) return nullptr;
    if (piece->reply.value == 0) break;
    bytes.insert(bytes.end(), channel->staging, channel->staging + piece->reply.value);
  }
  auto description = device::read_description(bytes);
  if (!description) return nullptr;
  error = {};
  return std::make_shared<RemoteCode>(number, std::move(*description));
}

void RemoteDevice::unload(std::uint64_t number) {
  const Lease channel(*this);
  device::Unload request;
  request.code_object = number;
  if (channel) static_cast<void>(ask(*channel, device::bytes_of(request)));
}

hipError_t RemoteDevice::launch(const device::Launch& request, std::span<const std::byte> arguments,
                                std::vector<Fault>& faults) {
  if (arguments.size() > device::max_payload) return hipErrorInvalidValue;
  const Lease channel(*this);
  const auto answer =
      channel ? ask(*channel, device::bytes_of(request), arguments) : std::optional<Answer>();
  if (!answer || answer->reply.status != device::Status::ok) return hipErrorUnknown;
  device::Reader reader(answer->bytes);
  while (reader.ok() && !reader.at_end()) {
    const auto head = reader.get<device::Report>();
    const auto text = reader.take(head.bytes);
    faults.push_back({static_cast<amdgpu::FaultKind>(head.fault),
                      {reinterpret_cast<const char*>(text.data()), text.size()}});
  }
  return hipSuccess;
}

void RemoteDevice::note_failed_launch(std::string_view kernel) {
  const Lease channel(*this);
  const auto name = std::as_bytes(std::span(kernel.substr(0, device::max_kernel_name)));
  if (channel) static_cast<void>(ask(*channel, device::bytes_of(device::FailedLaunch{}), name));
}

bool RemoteDevice::forgives(hipMemcpyKind kind) {
  const Lease channel(*this);
  device::Contradiction request;
  request.kind = kind;
  const auto answer = channel ? ask(*channel, device::bytes_of(request)) : std::optional<Answer>();
  return !answer || answer->reply.status == device::Status::ok;
}

bool RemoteDevice::is_late() {
  const Lease channel(*this);
  return channel && state_->late;
}

}  // namespace cass::hip
