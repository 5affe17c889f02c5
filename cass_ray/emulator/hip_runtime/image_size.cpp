#include "image_size.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cass::hip {

std::size_t image_size(const std::byte* image) {
  Elf64_Ehdr header;
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0) return SIZE_MAX / 4;
  std::memcpy(&header, image, sizeof header);
  std::size_t end = header.e_ehsize;
  end = std::max<std::size_t>(end, header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr));
  end = std::max<std::size_t>(end, header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr));
  for (unsigned index = 0; index < header.e_phnum; ++index) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image + header.e_phoff + index * sizeof segment, sizeof segment);
    end = std::max<std::size_t>(end, segment.p_offset + segment.p_filesz);
  }
  for (unsigned index = 0; index < header.e_shnum; ++index) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + index * sizeof section, sizeof section);
    if (section.sh_type == SHT_NOBITS) continue;
    end = std::max<std::size_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

}  // namespace cass::hip
