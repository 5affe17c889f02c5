#include "elf_image.hpp"

#include <elf.h>
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "device_memory.hpp"

namespace cass::amdgpu {
namespace {

constexpr std::uint16_t machine_amdgpu = 224;
constexpr std::uint32_t note_amdgpu_metadata = 32;
constexpr std::size_t max_image_size = std::size_t{1} << 32;

// Relocations of AMDGPU that the linker leaves to the loader (AMDGPU usage guide, "ELF Code
// Object", relocation records).
enum Relocation : std::uint32_t {
  abs32_lo = 1,
  abs32_hi = 2,
  abs64 = 3,
  abs32 = 6,
  relative64 = 13,
};

// What HIP's assert calls (hip_assert.h), that of CUDA's code, and that of lifted code.
bool ends_failed_assert(std::string_view name) {
  return name == "__assert_fail" || name == "__assertfail" || name == "__cass_assertion_failed";
}

bool fail(Error& error, ErrorKind kind, std::string message) {
  error = {kind, std::move(message)};
  return false;
}

bool truncated(Error& error, const char* what) {
  return fail(
      error, ErrorKind::malformed,
      std::string("the code object is damaged or cut short: ") + what + " lies outside the file");
}

class Loader {
 public:
  Loader(std::span<const std::byte> elf, CodeObject::Content& content, Error& error)
      : elf_(elf), content_(content), error_(error) {}

  bool header() {
    if (!read(0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) {
      return fail(error_, ErrorKind::malformed, "not an ELF file");
    }
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_machine != machine_amdgpu) {
      return fail(error_, ErrorKind::wrong_target,
                  "an ELF file of machine type " + std::to_string(header_.e_machine) +
                      ", not an AMDGPU code object");
    }
    if (header_.e_type != ET_DYN) {
      return fail(error_, ErrorKind::malformed,
                  "the code object is not linked (an object file); link it with"
                  " ld.lld -shared first");
    }
    const unsigned number = header_.e_flags & 0xFF;
    content_.target = processor_of(elf_);
    if (content_.target.empty()) content_.target = "AMDGPU machine " + std::to_string(number);
    const auto set = instruction_set_of(content_.target);
    if (!set) {
      return fail(error_, ErrorKind::wrong_target,
                  "the code object is for " + content_.target +
                      "; compile for gfx1100, gfx1201, gfx90a, gfx942 or gfx950 (--offload-arch)");
    }
    content_.set = *set;
    const unsigned abi = header_.e_ident[EI_ABIVERSION];
    if (abi < 2 || abi > 4) {
      return fail(error_, ErrorKind::wrong_target,
                  "code object version " + std::to_string(abi + 2) +
                      " is not supported; compile with -mcode-object-version=5");
    }
    content_.version = static_cast<std::uint8_t>(abi + 2);
    return true;
  }

  bool segments(MetadataNotes& metadata) {
    std::uint64_t end = 0;
    std::vector<Elf64_Phdr> loads;
    for (unsigned i = 0; i < header_.e_phnum; ++i) {
      Elf64_Phdr segment;
      if (!read(header_.e_phoff + std::uint64_t{i} * sizeof segment, segment)) {
        return truncated(error_, "the program header table");
      }
      if (!inside(segment.p_offset, segment.p_filesz)) return truncated(error_, "a segment");
      if (segment.p_type == PT_NOTE) note(segment, metadata);
      if (segment.p_type == PT_DYNAMIC) dynamic_ = segment;
      if (segment.p_type != PT_LOAD) continue;
      if (segment.p_filesz > segment.p_memsz || segment.p_vaddr > max_image_size ||
          segment.p_memsz > max_image_size) {
        return fail(error_, ErrorKind::malformed, "the code object has a segment of absurd size");
      }
      end = std::max(end, segment.p_vaddr + segment.p_memsz);
      if ((segment.p_flags & PF_X) != 0) {
        if (segment.p_vaddr % sizeof(std::uint32_t) != 0) {
          return fail(error_, ErrorKind::malformed, "the code object's code is not aligned");
        }
        content_.code_offset = segment.p_vaddr;
        content_.code_size = segment.p_filesz & ~std::uint64_t{3};
      }
      loads.push_back(segment);
    }
    if (loads.empty() || content_.code_size == 0) {
      return fail(error_, ErrorKind::malformed, "the code object holds no code");
    }
    return map(end) && copy(loads);
  }

  bool symbols(std::unordered_map<std::string, Symbol>& all) {
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      Elf64_Shdr section;
      Elf64_Shdr strings;
      if (!read(header_.e_shoff + std::uint64_t{i} * sizeof section, section)) {
        return truncated(error_, "the section header table");
      }
      if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
      if (section.sh_link >= header_.e_shnum ||
          !read(header_.e_shoff + std::uint64_t{section.sh_link} * sizeof strings, strings) ||
          !inside(section.sh_offset, section.sh_size) ||
          !inside(strings.sh_offset, strings.sh_size)) {
        return truncated(error_, "a symbol table");
      }
      for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size;
           at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol{};
        read(section.sh_offset + at, symbol);
        add_symbol(symbol, strings, all);
        if (section.sh_type == SHT_DYNSYM) {
          dynamic_symbols_.push_back(symbol);
          dynamic_names_.push_back(text(strings, symbol.st_name));
        }
      }
    }
    return true;
  }

  bool relocate() {
    std::uint64_t table = 0;
    std::uint64_t size = 0;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic_.p_filesz;
         at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry{};
      read(dynamic_.p_offset + at, entry);
      if (entry.d_tag == DT_RELA) table = entry.d_un.d_ptr;
      if (entry.d_tag == DT_RELASZ) size = entry.d_un.d_val;
    }
    if (size > content_.image_size || table > content_.image_size - size) {
      return truncated(error_, "the relocation table");
    }
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela relocation{};
      std::memcpy(&relocation, content_.image + table + at, sizeof relocation);
      if (!apply(relocation)) return false;
    }
    return true;
  }

 private:
  bool inside(std::uint64_t offset, std::uint64_t size) const {
    return offset <= elf_.size() && size <= elf_.size() - offset;
  }

  template <class T>
  bool read(std::uint64_t offset, T& out) const {
    if (!inside(offset, sizeof out)) return false;
    std::memcpy(&out, elf_.data() + offset, sizeof out);
    return true;
  }

  std::string text(const Elf64_Shdr& strings, std::uint64_t at) const {
    if (at >= strings.sh_size) return {};
    const auto* start = reinterpret_cast<const char*>(elf_.data()) + strings.sh_offset + at;
    return {start, strnlen(start, strings.sh_size - at)};
  }

  void note(const Elf64_Phdr& segment, MetadataNotes& metadata) const {
    std::uint64_t at = segment.p_offset;
    const std::uint64_t end = segment.p_offset + segment.p_filesz;
    while (at + sizeof(Elf64_Nhdr) <= end) {
      Elf64_Nhdr head{};
      read(at, head);
      const std::uint64_t content = at + sizeof head + ((std::uint64_t{head.n_namesz} + 3) & ~3ULL);
      if (content > end || head.n_descsz > end - content) return;
      if (head.n_type == note_amdgpu_metadata) {
        metadata.push_back(elf_.subspan(content, head.n_descsz));
      }
      at = content + ((std::uint64_t{head.n_descsz} + 3) & ~3ULL);
    }
  }

  bool map(std::uint64_t end) {
    content_.image = DeviceMemory::instance().allocate(end);
    if (content_.image == nullptr) {
      return fail(error_, ErrorKind::out_of_memory,
                  "no memory for a code object of " + std::to_string(end) + " bytes");
    }
    content_.image_size = end;
    return true;
  }

  bool copy(const std::vector<Elf64_Phdr>& loads) {
    for (const Elf64_Phdr& segment : loads) {
      std::memcpy(content_.image + segment.p_vaddr, elf_.data() + segment.p_offset,
                  segment.p_filesz);
    }
    return true;
  }

  void add_symbol(const Elf64_Sym& symbol, const Elf64_Shdr& strings,
                  std::unordered_map<std::string, Symbol>& all) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value >= content_.image_size) return;
    if (type == STT_SECTION || type == STT_FILE) return;
    const std::string name = text(strings, symbol.st_name);
    if (name.empty()) return;
    const Symbol place{content_.image + symbol.st_value, symbol.st_size};
    all.emplace(name, place);
    if (type == STT_FUNC) content_.functions.push_back(symbol.st_value);
    if (type == STT_FUNC && ends_failed_assert(name)) {
      content_.assertions.emplace_back(symbol.st_value, symbol.st_value + symbol.st_size);
    }
    const bool data = type == STT_OBJECT && !name.ends_with(".kd");
    if (data) content_.variables.emplace(name, place);
  }

  bool apply(const Elf64_Rela& relocation) {
    const std::uint64_t type = ELF64_R_TYPE(relocation.r_info);
    const std::uint64_t width = type == abs64 || type == relative64 ? 8 : 4;
    if (content_.image_size < width || relocation.r_offset > content_.image_size - width) {
      return truncated(error_, "the target of a relocation");
    }
    const auto base = reinterpret_cast<std::uint64_t>(content_.image);
    std::uint64_t value = static_cast<std::uint64_t>(relocation.r_addend);
    if (type == relative64) {
      value += base;
    } else {
      const std::uint64_t index = ELF64_R_SYM(relocation.r_info);
      if (index >= dynamic_symbols_.size()) return truncated(error_, "the symbol of a relocation");
      const Elf64_Sym& symbol = dynamic_symbols_[index];
      const bool weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK;
      if (symbol.st_shndx == SHN_UNDEF && !weak) {
        return fail(error_, ErrorKind::unresolved_symbol,
                    "the device code refers to " + dynamic_names_[index] +
                        ", which no code object defines; link it with -fgpu-rdc --hip-link");
      }
      if (symbol.st_shndx != SHN_UNDEF) value += base + symbol.st_value;
    }
    if (type == abs32_hi) value >>= 32;
    if (type != abs64 && type != relative64 && type != abs32 && type != abs32_lo &&
        type != abs32_hi) {
      return fail(error_, ErrorKind::malformed,
                  "the code object has a relocation of unknown type " + std::to_string(type));
    }
    std::memcpy(content_.image + relocation.r_offset, &value, width);
    return true;
  }

  std::span<const std::byte> elf_;
  CodeObject::Content& content_;
  Error& error_;
  Elf64_Ehdr header_{};
  Elf64_Phdr dynamic_{};
  std::vector<Elf64_Sym> dynamic_symbols_;
  std::vector<std::string> dynamic_names_;
};

}  // namespace

bool load_image(std::span<const std::byte> elf, CodeObject::Content& content, Error& error,
                MetadataNotes& metadata, std::unordered_map<std::string, Symbol>& all_symbols) {
  Loader loader(elf, content, error);
  return loader.header() && loader.segments(metadata) && loader.symbols(all_symbols) &&
         loader.relocate();
}

}  // namespace cass::amdgpu
