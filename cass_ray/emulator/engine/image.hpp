// Image instructions (RDNA3 ISA, chapter 10 and 15.8.1 MIMG) and formatted buffer accesses.
//
// Images are linear, without mipmaps: HIP's arrays and pitched memory. Rows of arrays and 3D images
// follow one another without padding.
#pragma once

#include <cstdint>

#include "instruction.hpp"
#include "isa.hpp"

namespace cass::amdgpu {

struct Wave;

enum class ImageKind : std::uint8_t {
  unsupported,
  load,
  load_mip,
  store,
  store_mip,
  sample,
  gather,
  size
};

// What an image instruction says beside its registers: Instruction::immediate.
struct ImageControl {
  ImageKind kind = ImageKind::unsupported;
  std::uint8_t mask = 0;  // DMASK: components of the data
  std::uint8_t dimension = 0;  // DIM: 0 1D, 1 2D, 2 3D, 4 1D array, 5 2D array
  std::uint8_t flags = 0;
  std::uint8_t registers[4] = {};  // addresses 1 to 4 where `separate`

  static constexpr std::uint8_t unnormalized = 1;
  static constexpr std::uint8_t short_addresses = 2;  // A16
  static constexpr std::uint8_t short_data = 4;  // D16
  static constexpr std::uint8_t separate = 8;  // each address in a register of its own
  static constexpr std::uint8_t offset = 16;  // the first address holds texel offsets
  static constexpr unsigned skipped_shift = 5;  // addresses before the coordinates, offset apart

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(ImageControl) == 8);

// The fields of an image instruction, wherever its format has them.
struct ImageFields {
  std::uint8_t mask = 0;
  std::uint8_t dimension = 0;
  bool other_resource = false;  // R128, TFE, LWE
  bool unnormalized = false;
  bool short_addresses = false;
  bool short_data = false;
  bool separate = false;
  std::uint8_t registers[4] = {};
};

// Kind `unsupported`: a form that the engine does not have.
ImageControl image_control(Opcode opcode, const ImageFields& fields);

// Registers of 32 bits: of the data, and of consecutive addresses.
unsigned data_registers(const ImageControl& control);
unsigned address_registers(const ImageControl& control);

// Executes the instruction for the active lanes of its half. False where the resource has a form
// that the engine does not support: tiled, with mipmaps, or of another format.
bool execute_image(Wave& wave, const Instruction& instruction);

// One texel of a buffer at each lane's `addresses`, for lanes of `inside`; lanes of `active` beyond
// them read zero. `count`: components. `code`: combined format. False: format not supported.
struct FormattedAccess {
  std::uint32_t active;
  std::uint32_t inside;
  const std::uint64_t* addresses;
  unsigned code;
  unsigned selects;
  unsigned count;
  bool store;
  bool short_data;
  bool high;  // D16_HI
};
bool access_formatted(Wave& wave, const Instruction& instruction, const FormattedAccess& access);

}  // namespace cass::amdgpu
