#include "code_object.hpp"

#include <algorithm>
#include <cstring>

#include "device_memory.hpp"
#include "elf_image.hpp"

namespace cass::amdgpu {

CodeObject::Content::~Content() {
  if (image != nullptr) DeviceMemory::instance().release(image);
}

bool CodeObject::Content::is_kernel_entry(std::uint64_t offset) const {
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(image) + offset;
  return std::ranges::any_of(kernels,
                             [&](const Kernel& kernel) { return kernel.entry == address; });
}

const Program& CodeObject::Content::program(const ProgramOptions& options) const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Program>& slot = programs_[options.key()];
  if (slot == nullptr) {
    slot = std::make_unique<Program>();
    slot->set = set;
    slot->options = options;
    for (const std::uint64_t function : functions) {
      if (function >= code_offset && function - code_offset < code_size &&
          !is_kernel_entry(function)) {
        slot->functions.push_back(function - code_offset);
      }
    }
    build_program(*slot, code, reinterpret_cast<std::uint64_t>(image + code_offset));
  }
  return *slot;
}

bool CodeObject::Content::is_in_assertion(std::uint64_t offset) const {
  return std::ranges::any_of(assertions, [offset](const auto& range) {
    return offset >= range.first && offset < range.second;
  });
}

CodeObject::CodeObject(std::unique_ptr<Content> content) : content_(std::move(content)) {}
CodeObject::~CodeObject() = default;

std::shared_ptr<CodeObject> CodeObject::load(std::span<const std::byte> elf, Error& error) {
  auto content = std::make_unique<Content>();
  MetadataNotes metadata;
  std::unordered_map<std::string, Symbol> symbols;
  if (!load_image(elf, *content, error, metadata, symbols)) return nullptr;
  if (!read_kernels(metadata, symbols, *content, error)) return nullptr;
  content->file.assign(elf.begin(), elf.end());
  content->code.resize(content->code_size / 4);
  std::memcpy(content->code.data(), content->image + content->code_offset,
              content->code.size() * sizeof(std::uint32_t));
  std::shared_ptr<CodeObject> result(new CodeObject(std::move(content)));
  for (Kernel& kernel : result->content_->kernels) {
    kernel.code_object = result.get();
    kernel.gfx9 = is_gfx9(result->content_->set);
    kernel.lds_capacity = lds_bytes_of(result->content_->set);
  }
  error = {};
  return result;
}

const Kernel* CodeObject::kernel(std::string_view name) const {
  for (const Kernel& kernel : content_->kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

std::span<const Kernel> CodeObject::kernels() const { return content_->kernels; }

std::optional<Symbol> CodeObject::variable(std::string_view name) const {
  const auto found = content_->variables.find(std::string(name));
  if (found == content_->variables.end()) return std::nullopt;
  return found->second;
}

std::string_view CodeObject::target() const { return content_->target; }

}  // namespace cass::amdgpu
