#include "status.hpp"

#include <string>

#include "../common/fault.hpp"

namespace cass::cuda {
namespace {

thread_local int last_error = success;

struct Description {
  int code;
  const char *name, *text;
};

constexpr Description descriptions[] = {
#define CASS_CUDA_ERROR(code, name, text) {code, name, text},
#include "errors.inc"
#undef CASS_CUDA_ERROR
};

const Description* find(int code) {
  for (const auto& known : descriptions) {
    if (known.code == code) return &known;
  }
  return nullptr;
}

int converted(hipError_t result) {
  const auto code = static_cast<int>(result);
  return with_faults(find(code) != nullptr ? code : unknown);
}

}  // namespace

int fail(int code) {
  if (code == invalid_device_function) report_once("a kernel is used that has not been lifted");
  const auto result = with_faults(code);
  if (result != success && result != not_ready) last_error = result;
  return result;
}

int finish(hipError_t result) { return fail(converted(result)); }

int unsupported(std::string_view what) {
  report_once(std::string(what) + " is not supported");
  return fail(not_supported);
}

}  // namespace cass::cuda

using namespace cass::cuda;

CUDA_API int cudaGetLastError() {
  const auto asynchronous = converted(hipGetLastError());
  const auto result = last_error != success ? last_error : asynchronous;
  last_error = success;
  return result;
}

CUDA_API int cudaPeekAtLastError() {
  return last_error != success ? last_error : converted(hipPeekAtLastError());
}

CUDA_API const char* cudaGetErrorName(int code) {
  const auto* known = find(code);
  return known != nullptr ? known->name : "unrecognized error code";
}

CUDA_API const char* cudaGetErrorString(int code) {
  const auto* known = find(code);
  return known != nullptr ? known->text : "unrecognized error code";
}
