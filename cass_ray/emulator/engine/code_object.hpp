// A loaded code object, as the rest of the engine sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "program.hpp"

namespace cass::amdgpu {

struct CodeObject::Content {
  ~Content();

  std::string target;                      // the processor: "gfx1100"
  InstructionSet set = InstructionSet::gfx11;
  std::uint8_t version = 5;                // of the code object: 4, 5, 6
  std::byte* image = nullptr;              // all segments, at their virtual addresses
  std::size_t image_size = 0;
  std::uint64_t code_offset = 0;           // of the executable segment in the image
  std::uint64_t code_size = 0;
  std::vector<Kernel> kernels;
  std::unordered_map<std::string, Symbol> variables;
  std::vector<std::uint64_t> functions;    // offsets in the image, of device functions
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      assertions;  // from where to where: ends of assert
  std::vector<std::byte> file;             // the ELF file, for debug information
  std::vector<std::uint32_t> code;         // what is decoded: kernels may write to the image

  // Decoded on first use, one per set of options.
  const Program& program(const ProgramOptions& options) const;

  bool is_kernel_entry(std::uint64_t offset) const;
  bool is_in_assertion(std::uint64_t offset) const;

 private:
  mutable std::mutex mutex_;
  mutable std::map<unsigned, std::unique_ptr<Program>> programs_;
};

}  // namespace cass::amdgpu
