#include "result.hpp"

#include <string>

using namespace cass::cuda::driver;

namespace {

struct Named {
  int code;
  const char* text;
};

constexpr Named names[] = {
#define CASS_CUDA_RESULT(code, name) {code, #name},
#include "results.inc"
#undef CASS_CUDA_RESULT
};

constexpr Named texts[] = {
#define CASS_CUDA_ERROR(code, name, text) {code, text},
#include "../runtime/errors.inc"
#undef CASS_CUDA_ERROR
};

const char* find(auto& among, int code) {
  for (const auto& each : among) {
    if (each.code == code) return each.text;
  }
  return nullptr;
}

int tell(int code, const char** text, auto& among) {
  if (text == nullptr) return invalid_value;
  *text = find(names, code) != nullptr ? find(among, code) : nullptr;
  return *text != nullptr ? success : invalid_value;
}

}  // namespace

int cass::cuda::driver::finish(hipError_t result) {
  if (const int fault = earlier_fault(); fault != success) return fault;
  // The driver has no code of its own for these two of the runtime.
  if (result == hipErrorInvalidConfiguration) return invalid_value;
  if (result == hipErrorInvalidDeviceFunction) return not_found;
  const auto code = static_cast<int>(result);
  return with_faults(find(names, code) != nullptr ? code : unknown);
}

int cass::cuda::driver::unsupported(std::string_view what) {
  report_once(std::string(what) + " is not supported");
  return not_supported;
}

CUDA_API int cuGetErrorName(int code, const char** text) { return tell(code, text, names); }
CUDA_API int cuGetErrorString(int code, const char** text) { return tell(code, text, texts); }
