// The processor that an ELF file is for. Also part of the HIP runtime.
#include <elf.h>

#include <cstring>
#include <string>

#include "engine.hpp"

namespace cass::amdgpu {
namespace {

struct Machine {
  unsigned number;
  const char* name;
};

constexpr Machine machines[] = {
    {0x2C, "gfx900"},        {0x2F, "gfx906"},         {0x30, "gfx908"},  {0x31, "gfx909"},
    {0x33, "gfx1010"},       {0x34, "gfx1011"},        {0x35, "gfx1012"}, {0x36, "gfx1030"},
    {0x37, "gfx1031"},       {0x38, "gfx1032"},        {0x3F, "gfx90a"},  {0x40, "gfx940"},
    {0x41, "gfx1100"},       {0x43, "gfx1150"},        {0x44, "gfx1103"}, {0x45, "gfx1036"},
    {0x46, "gfx1101"},       {0x47, "gfx1102"},        {0x48, "gfx1200"}, {0x4A, "gfx1151"},
    {0x4C, "gfx942"},        {0x4E, "gfx1201"},        {0x4F, "gfx950"},  {0x54, "gfx11-generic"},
    {0x59, "gfx12-generic"}, {0x5F, "gfx9-4-generic"},
};

std::string machine_name(unsigned number) {
  for (const Machine& machine : machines) {
    if (machine.number == number) return machine.name;
  }
  return {};
}

}  // namespace

std::string processor_of(std::span<const std::byte> elf) {
  Elf64_Ehdr header;
  if (elf.size() < sizeof header) return {};
  std::memcpy(&header, elf.data(), sizeof header);
  return machine_name(header.e_flags & 0xFF);
}

}  // namespace cass::amdgpu
