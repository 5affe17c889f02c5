// Options of the just-in-time compiler and linker that are answered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace cass::cuda::driver {

// CUjit_option of cuda.h.
enum JitOption : int { info_log = 3, info_log_bytes = 4, error_log = 5, error_log_bytes = 6 };

struct JitOptions {
  unsigned count = 0;
  int* names = nullptr;
  void** values = nullptr;

  void** find(int name) const {
    for (unsigned k = 0; k < count; ++k) {
      if (names[k] == name) return &values[k];
    }
    return nullptr;
  }

  // A log and its size, which is replaced by that of what was written.
  void answer(int log, int bytes, const std::string& text) const {
    void** size = find(bytes);
    void** buffer = find(log);
    if (size == nullptr) return;
    const auto room = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(*size));
    auto written = std::min<std::size_t>(text.size(), room > 0 ? room - 1 : 0);
    if (buffer == nullptr || *buffer == nullptr || room == 0) written = 0;
    if (buffer != nullptr && *buffer != nullptr && room > 0) {
      std::memcpy(*buffer, text.data(), written);
      static_cast<char*>(*buffer)[written] = 0;
    }
    *size = reinterpret_cast<void*>(written);
  }
};

}  // namespace cass::cuda::driver
