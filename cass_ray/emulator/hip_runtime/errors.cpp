#include "errors.hpp"

#include <unistd.h>

#include <mutex>
#include <set>
#include <string>

#include "exit_status.hpp"

namespace cass::hip {
namespace {

thread_local hipError_t last_error = hipSuccess;

struct Description {
  hipError_t code;
  const char* name;
  const char* text;
};

// Names from hip_runtime_api.h; texts as AMD's runtime 6.2 gives them.
constexpr Description descriptions[] = {
#define CASS_HIP_ERROR(code, text) {code, #code, text},
#include "errors.inc"
#undef CASS_HIP_ERROR
};

const Description& description(hipError_t code) {
  static constexpr Description unknown{hipErrorUnknown, "hipErrorUnknown", "unknown error"};
  for (const auto& known : descriptions) {
    if (known.code == code) return known;
  }
  return unknown;
}

bool is_known(hipError_t code) {
  return code == hipErrorUnknown || description(code).code != hipErrorUnknown;
}

}  // namespace

hipError_t record(hipError_t result) {
  if (result != hipSuccess && result != hipErrorNotReady) last_error = result;
  return result;
}

void report(std::string_view message) {
  std::string line = "cass emulator: ";
  line += message;
  line += '\n';
  // One write: lines of several threads stay whole. Nothing can be done about a failure.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void report_once(std::string_view message) {
  static std::mutex guard;
  static auto& said = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(guard);
  if (said.emplace(message).second) report(message);
}

hipError_t unsupported(const char* entry_point) {
  report_once(std::string(entry_point) + " is not supported by the CPU backend");
  return record(hipErrorNotSupported);
}

}  // namespace cass::hip

using namespace cass::hip;

hipError_t hipGetLastError() {
  const auto result = hipPeekAtLastError();
  last_error = hipSuccess;
  return result;
}

hipError_t hipExtGetLastError() { return hipGetLastError(); }

hipError_t hipPeekAtLastError() {
  if (last_error == hipErrorNoBinaryForGpu || last_error == hipErrorInvalidDeviceFunction) {
    lost_launch_was_heard();
  }
  return last_error;
}

const char* hipGetErrorName(hipError_t error) { return description(error).name; }

const char* hipGetErrorString(hipError_t error) { return description(error).text; }

hipError_t hipDrvGetErrorName(hipError_t error, const char** name) {
  if (name == nullptr) return hipErrorInvalidValue;
  *name = description(error).name;
  return is_known(error) ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipDrvGetErrorString(hipError_t error, const char** text) {
  if (text == nullptr) return hipErrorInvalidValue;
  *text = description(error).text;
  return is_known(error) ? hipSuccess : hipErrorInvalidValue;
}
