#include "lowered_names.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace cass::hip {
namespace {

// LLVM, "User Guide for AMDGPU Backend", relocation records.
constexpr std::uint32_t absolute64 = 3;
constexpr std::uint32_t relative64 = 13;

struct Named {
  std::string name;
  Elf64_Sym symbol;
};

// Tables of a linked ELF file. Reads nothing outside of it.
class Tables {
 public:
  explicit Tables(std::span<const std::byte> file) : file_(file) {
    const auto header = read<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
    std::vector<Elf64_Shdr> sections;
    for (unsigned index = 0; index < header->e_shnum; ++index) {
      const auto section = read<Elf64_Shdr>(header->e_shoff + index * sizeof(Elf64_Shdr));
      if (!section) return;
      sections.push_back(*section);
    }
    for (const auto& section : sections) {
      if (section.sh_type == SHT_DYNSYM && section.sh_link < sections.size()) {
        read_symbols(section, sections[section.sh_link]);
      } else if (section.sh_type == SHT_RELA) {
        read_all(section, relocations);
      }
    }
  }

  std::vector<Named> symbols;
  std::vector<Elf64_Rela> relocations;

 private:
  template <typename Record>
  std::optional<Record> read(std::uint64_t offset) const {
    if (offset > file_.size() || sizeof(Record) > file_.size() - offset) return std::nullopt;
    Record record;
    std::memcpy(&record, file_.data() + offset, sizeof record);
    return record;
  }

  template <typename Record>
  void read_all(const Elf64_Shdr& section, std::vector<Record>& into) const {
    for (std::uint64_t at = 0; at + sizeof(Record) <= section.sh_size; at += sizeof(Record)) {
      const auto record = read<Record>(section.sh_offset + at);
      if (!record) return;
      into.push_back(*record);
    }
  }

  void read_symbols(const Elf64_Shdr& section, const Elf64_Shdr& names) {
    std::vector<Elf64_Sym> all;
    read_all(section, all);
    for (const auto& symbol : all) {
      std::string name;
      for (std::uint64_t at = names.sh_offset + symbol.st_name;; ++at) {
        const auto letter = read<char>(at);
        if (!letter || *letter == '\0') break;
        name += *letter;
      }
      symbols.push_back({std::move(name), symbol});
    }
  }

  std::span<const std::byte> file_;
};

}  // namespace

std::optional<std::string> pointed_to(std::span<const std::byte> code_object,
                                      std::string_view variable) {
  const Tables tables(code_object);
  std::uint64_t slot = 0;
  for (const auto& named : tables.symbols) {
    if (named.name == variable) slot = named.symbol.st_value;
  }
  if (slot == 0) return std::nullopt;
  for (const auto& relocation : tables.relocations) {
    if (relocation.r_offset != slot) continue;
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
    const auto index = ELF64_R_SYM(relocation.r_info);
    if (type == absolute64 && index < tables.symbols.size()) return tables.symbols[index].name;
    if (type != relative64) continue;
    for (const auto& named : tables.symbols) {
      const auto address = static_cast<std::uint64_t>(relocation.r_addend);
      if (named.symbol.st_value == address && !named.name.empty()) return named.name;
    }
  }
  return std::nullopt;
}

}  // namespace cass::hip
