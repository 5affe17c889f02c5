// What a program's HIP runtime and the device process say to each other.
//
// Sockets are of type SOCK_SEQPACKET: a message is sent and received whole. There are three kinds:
// the *door*, which all processes of a run inherit and on which they ask for connections; a
// *connection*, one a process, on which it asks for channels and whose end is the process's; and
// *channels*, on each of which one request at a time is answered. Asking is sending one end of a
// new socket pair.
//
// A request is a structure below and, for some, bytes behind it. It is answered by any number of
// messages with device output and then by one Reply with its bytes. All numbers are of this
// machine; both sides are of one build, which `version` checks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cass::device {

inline constexpr std::uint32_t version = 1;

// Where processes of a run find the door: the number of an open file.
inline constexpr const char* door_variable = "CASS_DEVICE_DOOR";

inline constexpr std::size_t max_message = std::size_t{96} << 10;

// Bytes that a message carries behind its structure.
inline constexpr std::size_t max_payload = max_message - 256;

inline constexpr std::size_t max_kernel_name = 4096;

// Memory of a channel that both sides see: larger amounts go through it, piece by piece.
inline constexpr std::size_t staging_bytes = std::size_t{1} << 20;

enum class Command : std::uint32_t {
  hello = 1,        // the first on a channel; its answer comes with the staging memory, and is 1
                    // where streams are to be late
  allocate,
  release,
  share,            // host memory to be registered: answered with a file to hold it
  unshare,
  copy,
  fill,
  upload,           // a piece of a code object
  load,             // what was uploaded
  fetch,            // a piece of the description of what was loaded
  unload,
  launch,
  contradiction,    // a copy whose direction contradicts its pointers
  failed_launch,  // a launch that the runtime answers with an error; the kernel's name behind it
};

struct Hello {
  Command command = Command::hello;
  std::uint32_t version = device::version;
};

enum class MemoryKind : std::uint32_t { device, array, pinned, managed };

struct Allocate {
  Command command = Command::allocate;
  MemoryKind kind = MemoryKind::device;
  std::uint64_t bytes = 0;
};

struct Release {
  Command command = Command::release;
  std::uint32_t reserved = 0;
  std::uint64_t address = 0;
};

// Whole pages.
struct Share {
  Command command = Command::share;
  std::uint32_t reserved = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct Unshare {
  Command command = Command::unshare;
  std::uint32_t reserved = 0;
  std::uint64_t address = 0;
};

enum class Place : std::uint32_t {
  memory,  // an address that kernels may use
  staging,  // an offset there; rows follow one another
  message,  // bytes of the request or of the reply, at most max_payload
};

// `rows` of `width` bytes.
struct Copy {
  Command command = Command::copy;
  Place to_place = Place::memory;
  Place from_place = Place::memory;
  std::uint32_t reserved = 0;
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  std::uint64_t to_pitch = 0;
  std::uint64_t from_pitch = 0;
  std::uint64_t width = 0;
  std::uint64_t rows = 0;
};

// `rows` of `count` elements.
struct Fill {
  Command command = Command::fill;
  std::uint32_t value = 0;
  std::uint64_t address = 0;
  std::uint64_t element_bytes = 0;  // 1, 2 or 4
  std::uint64_t count = 0;
  std::uint64_t pitch = 0;  // bytes
  std::uint64_t rows = 0;
};

struct Upload {
  Command command = Command::upload;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;  // in staging
};

struct Load {
  Command command = Command::load;
  std::uint32_t reserved = 0;
};

struct Fetch {
  Command command = Command::fetch;
  std::uint32_t reserved = 0;
};

struct Unload {
  Command command = Command::unload;
  std::uint32_t reserved = 0;
  std::uint64_t code_object = 0;
};

// The bytes behind it are the kernel's arguments.
struct Launch {
  Command command = Command::launch;
  std::uint32_t kernel = 0;  // its number in the code object
  std::uint64_t code_object = 0;
  std::array<std::uint32_t, 3> grid_blocks{};
  std::array<std::uint32_t, 3> block_threads{};
  std::array<std::uint32_t, 3> remainder{};
  std::uint32_t dynamic_lds_bytes = 0;
  std::uint32_t stack_bytes = 0;
  std::uint32_t cooperative = 0;
  std::uint32_t graph = 0;  // a graph's node launches it
};

struct Contradiction {
  Command command = Command::contradiction;
  std::int32_t kind = 0;  // hipMemcpyKind
};

struct FailedLaunch {
  Command command = Command::failed_launch;
};

enum class MessageKind : std::uint32_t { standard_output, standard_error, reply };

enum class Status : std::uint32_t {
  ok,
  out_of_memory,
  refused,  // the request cannot be one of our runtime
  malformed,  // of load: the rest are amdgpu::ErrorKind's
  wrong_target,
  unresolved_symbol,
};

// The beginning of every message to the program. `value`: an address, a number of a code object, a
// count of bytes. Device output follows it, or, in a reply: a piece of memory (copy), a message for
// a person (load), reports (launch).
struct Reply {
  MessageKind kind = MessageKind::reply;
  Status status = Status::ok;
  std::uint64_t value = 0;
};

// Of a launch's reply, one for each report, behind it its text.
struct Report {
  std::uint32_t fault = 0;  // amdgpu::FaultKind
  std::uint32_t bytes = 0;
};

}  // namespace cass::device
