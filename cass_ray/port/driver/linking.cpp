// Linking of what the program adds piece by piece: `cass run-binary` does it, outside of the
// sandbox, by ptxas and nvlink. The result is a cubin, which the program loads.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "jit_options.hpp"
#include "lifting.hpp"
#include "result.hpp"

using namespace cass::cuda;
using namespace cass::cuda::driver;

namespace {

// CUjitInputType of cuda.h.
enum InputType : int { of_cubin = 0, of_ptx = 1 };

// What begins a request: cass_ray/port/linking.py reads it.
constexpr char link_magic[] = "CASSLINK", check_magic[] = "CASSPTXC";

class Request {
 public:
  explicit Request(const char* magic) { append(magic, 8); }

  void add(int type, const std::string& name, const void* data, std::uint64_t size) {
    const std::uint32_t numbers[] = {static_cast<std::uint32_t>(type),
                                     static_cast<std::uint32_t>(name.size())};
    append(numbers, sizeof numbers);
    append(&size, sizeof size);
    append(name.data(), name.size());
    append(data, size);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void append(const void* data, std::size_t size) {
    const auto* at = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), at, at + size);
  }
  std::vector<std::byte> bytes_;
};

}  // namespace

// CUlinkState.
struct cass_link {
  JitOptions options;
  Request request{link_magic};
  std::vector<std::byte> made;
};

namespace {

int told(const LiftedImage& made, const JitOptions& options) {
  options.answer(error_log, error_log_bytes, made.result != success ? made.message : "");
  options.answer(info_log, info_log_bytes, made.result == success ? made.message : "");
  if (!made.message.empty()) report_once(made.message);
  return made.result;
}

int add(cass_link* state, int type, const void* data, std::size_t size, const char* name) {
  if (state == nullptr || data == nullptr) return invalid_value;
  if (type != of_cubin && type != of_ptx) return unsupported("linking what is no cubin and no PTX");
  const std::string called = name != nullptr ? name : "";
  if (type == of_ptx) {  // what is wrong with it is an error of this call
    Request check(check_magic);
    check.add(type, called, data, size);
    const auto made = lift(check.bytes());
    if (made.result != success) return told(made, state->options);
  }
  state->request.add(type, called, data, size);
  return success;
}

}  // namespace

CUDA_API int cuLinkCreate_v2(unsigned count, int* names, void** values, cass_link** state) {
  if (state == nullptr) return invalid_value;
  *state = new cass_link{{count, names, values}};
  return success;
}

CUDA_API int cuLinkAddData_v2(cass_link* state, int type, const void* data, std::size_t size,
                              const char* name, unsigned, int*, void**) {
  return add(state, type, data, size, name);
}

CUDA_API int cuLinkAddFile_v2(cass_link* state, int type, const char* path, unsigned, int*,
                              void**) {
  if (path == nullptr) return invalid_value;
  std::ifstream file(path, std::ios::binary);
  if (!file) return finish(hipErrorFileNotFound);
  const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  return add(state, type, content.data(), content.size(), path);
}

CUDA_API int cuLinkComplete(cass_link* state, void** cubin, std::size_t* bytes) {
  if (state == nullptr || cubin == nullptr) return invalid_value;
  auto made = lift(state->request.bytes());
  if (const int result = told(made, state->options); result != success) return result;
  state->made = std::move(made.code);
  *cubin = state->made.data();
  if (bytes != nullptr) *bytes = state->made.size();
  return success;
}

CUDA_API int cuLinkDestroy(cass_link* state) {
  delete state;
  return success;
}
