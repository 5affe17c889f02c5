#include "channel.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "wire.hpp"

namespace cass::device {
namespace {

constexpr std::size_t max_code_object = std::size_t{1} << 30;

Status status_of(amdgpu::ErrorKind kind) {
  switch (kind) {
    case amdgpu::ErrorKind::wrong_target: return Status::wrong_target;
    case amdgpu::ErrorKind::unresolved_symbol: return Status::unresolved_symbol;
    case amdgpu::ErrorKind::out_of_memory: return Status::out_of_memory;
    default: return Status::malformed;
  }
}

class Channel {
 public:
  Channel(Session& session, File socket) : session_(session), socket_(std::move(socket)) {
    buffer_.resize(max_message);
  }
  ~Channel() {
    if (staging_ != nullptr) ::munmap(staging_, staging_bytes);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void serve() {
    while (const auto message = receiver_.receive(socket_.number(), buffer_)) {
      payload_.clear();
      file_ = {};
      Reply reply;
      if (!answer(message->bytes, reply)) return;
      if (!send_message(socket_.number(), bytes_of(reply), payload_, file_.number())) return;
    }
  }

 private:
  // Reads the request and answers it. False where it ends the channel.
  bool answer(std::span<const std::byte> request, Reply& reply) {
    Command command{};
    if (request.size() < sizeof command) return false;
    std::memcpy(&command, request.data(), sizeof command);
    if ((staging_ == nullptr) != (command == Command::hello)) return false;
    switch (command) {
      case Command::hello: return as<Hello>(request, reply);
      case Command::allocate: return as<Allocate>(request, reply);
      case Command::release: return as<Release>(request, reply);
      case Command::share: return as<Share>(request, reply);
      case Command::unshare: return as<Unshare>(request, reply);
      case Command::copy: return as<Copy>(request, reply);
      case Command::fill: return as<Fill>(request, reply);
      case Command::upload: return as<Upload>(request, reply);
      case Command::load: return as<Load>(request, reply);
      case Command::fetch: return as<Fetch>(request, reply);
      case Command::unload: return as<Unload>(request, reply);
      case Command::launch: return as<Launch>(request, reply);
      case Command::contradiction: return as<Contradiction>(request, reply);
      case Command::failed_launch: return as<FailedLaunch>(request, reply);
    }
    return false;
  }

  template <class Request>
  bool as(std::span<const std::byte> bytes, Reply& reply) {
    Request request;
    if (bytes.size() < sizeof request) return false;
    std::memcpy(static_cast<void*>(&request), bytes.data(), sizeof request);
    return handle(request, bytes.subspan(sizeof request), reply);
  }

  static bool result(bool done, Reply& reply) {
    if (!done) reply.status = Status::refused;
    return true;
  }

  bool handle(const Hello& request, std::span<const std::byte>, Reply& reply) {
    if (request.version != version) return false;
    file_ = shared_file(staging_bytes);
    void* memory = !file_ ? MAP_FAILED
                          : ::mmap(nullptr, staging_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                   file_.number(), 0);
    if (memory == MAP_FAILED) return false;
    staging_ = static_cast<std::byte*>(memory);
    reply.value = session_.options().late_streams ? 1 : 0;
    return true;
  }

  bool handle(const Allocate& request, std::span<const std::byte>, Reply& reply) {
    if (request.kind > MemoryKind::managed) return false;
    reply.value = session_.allocate(request.kind, request.bytes, file_);
    if (reply.value == 0) reply.status = Status::out_of_memory;
    return true;
  }

  bool handle(const Release& request, std::span<const std::byte>, Reply& reply) {
    return result(session_.release(request.address), reply);
  }

  bool handle(const Share& request, std::span<const std::byte>, Reply& reply) {
    reply.status = session_.share(request.address, request.bytes, file_);
    return true;
  }

  bool handle(const Unshare& request, std::span<const std::byte>, Reply& reply) {
    return result(session_.unshare(request.address), reply);
  }

  // A host side's bytes: of the staging memory, or of a message that holds `given`.
  std::byte* packed(Place place, std::uint64_t offset, std::uint64_t bytes,
                    std::span<std::byte> given) const {
    const std::span<std::byte> whole =
        place == Place::staging ? std::span(staging_, staging_bytes) : given;
    if (offset > whole.size() || bytes > whole.size() - offset) return nullptr;
    return whole.data() + offset;
  }

  bool handle(const Copy& request, std::span<const std::byte> given, Reply& reply) {
    const auto& [command, to_place, from_place, reserved, to, from, to_pitch, from_pitch, width,
                 rows] = request;
    std::uint64_t bytes = 0;
    const bool inside = to_place == Place::memory && from_place == Place::memory;
    if (inside) {
      return result(session_.copy_inside({to, to_pitch}, {from, from_pitch}, width, rows), reply);
    }
    if (__builtin_mul_overflow(width, rows, &bytes)) return false;
    if (to_place == Place::memory && from_place <= Place::message) {
      const std::span source(const_cast<std::byte*>(given.data()), given.size());
      const std::byte* start = packed(from_place, from, bytes, source);
      if (start == nullptr) return false;
      return result(session_.copy_in({to, to_pitch}, start, width, rows), reply);
    }
    if (from_place != Place::memory || to_place > Place::message) return false;
    if (to_place == Place::message) {
      if (bytes > max_payload) return false;
      payload_.resize(bytes);
    }
    std::byte* start = packed(to_place, to, bytes, payload_);
    if (start == nullptr) return false;
    const bool done = session_.copy_out(start, {from, from_pitch}, width, rows);
    if (!done) payload_.clear();
    return result(done, reply);
  }

  bool handle(const Fill& request, std::span<const std::byte>, Reply& reply) {
    return result(session_.fill(request), reply);
  }

  bool handle(const Upload& request, std::span<const std::byte>, Reply&) {
    if (request.bytes > staging_bytes || uploaded_.size() + request.bytes > max_code_object) {
      return false;
    }
    uploaded_.insert(uploaded_.end(), staging_, staging_ + request.bytes);
    return true;
  }

  bool handle(const Load&, std::span<const std::byte>, Reply& reply) {
    amdgpu::Error error;
    fetched_ = 0;
    reply.value = session_.load(uploaded_, description_, error);
    uploaded_ = {};
    if (reply.value == 0) {
      reply.status = status_of(error.kind);
      put_payload(error.message);
    }
    return true;
  }

  bool handle(const Fetch&, std::span<const std::byte>, Reply& reply) {
    const std::size_t count = std::min(description_.size() - fetched_, staging_bytes);
    if (count != 0) std::memcpy(staging_, description_.data() + fetched_, count);
    fetched_ += count;
    reply.value = count;
    return true;
  }

  bool handle(const Unload& request, std::span<const std::byte>, Reply& reply) {
    return result(session_.unload(request.code_object), reply);
  }

  bool handle(const Launch& request, std::span<const std::byte> arguments, Reply& reply) {
    std::vector<amdgpu::Fault> reports;
    const std::vector<std::byte> kept(arguments.begin(), arguments.end());
    if (!session_.launch(request, kept, socket_.number(), reports)) {
      return result(false, reply);
    }
    Writer writer;
    std::size_t room = max_payload;
    for (const amdgpu::Fault& fault : reports) {
      const std::string text = fault.text();
      if (text.size() + sizeof(Report) > room) break;
      room -= text.size() + sizeof(Report);
      writer.put(
          Report{static_cast<std::uint32_t>(fault.kind), static_cast<std::uint32_t>(text.size())});
      for (const char letter : text) writer.put(letter);
    }
    payload_ = writer.take();
    return true;
  }

  bool handle(const Contradiction&, std::span<const std::byte>, Reply& reply) {
    return result(!amdgpu::checking(), reply);
  }

  bool handle(const FailedLaunch&, std::span<const std::byte> name, Reply&) {
    if (name.size() > max_kernel_name) return false;
    session_.note_failed_launch({reinterpret_cast<const char*>(name.data()), name.size()});
    return true;
  }

  void put_payload(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text)).first(std::min(text.size(), max_payload));
    payload_.assign(bytes.begin(), bytes.end());
  }

  Session& session_;
  File socket_;
  Receiver receiver_;
  std::byte* staging_ = nullptr;
  std::vector<std::byte> buffer_;
  std::vector<std::byte> payload_;
  File file_;  // goes with the answer
  std::vector<std::byte> uploaded_;
  std::vector<std::byte> description_;
  std::size_t fetched_ = 0;
};

}  // namespace

void serve_channel(Session& session, File socket) {
  try {
    Channel(session, std::move(socket)).serve();
  } catch (const std::bad_alloc&) {
    // The program finds the channel closed.
  }
}

}  // namespace cass::device
