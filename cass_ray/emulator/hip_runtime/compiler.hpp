// Compiles HIP source at run time with the machine's clang: for HIPRTC.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cass::hip {

struct SourceText {
  std::string name;
  std::string text;
};

struct CompilerOutput {
  bool ok = false;
  std::string log;              // the compiler's messages, or why there is no compiler
  std::vector<std::byte> code;  // a code object
};

// Device code of `source` for the device's processor. `headers` are found by the names that they
// are included by; `options` are clang's.
//
// clang is $CASS_CLANG, else clang++-19 or clang++ of the PATH. HIP's headers are $CASS_HIP_ROOT,
// else those beside this library in the cache, else /opt/rocm.
CompilerOutput compile(const SourceText& source, const std::vector<SourceText>& headers,
                       const std::vector<std::string>& options);

}  // namespace cass::hip
