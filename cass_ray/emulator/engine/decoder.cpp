#include "decoder_base.hpp"

namespace cass::amdgpu {

std::optional<Decoded> decode(InstructionSet set, std::span<const std::uint32_t> words) {
  if (words.empty()) return std::nullopt;
  if (is_gfx9(set)) return decode_gfx9(set, words);
  return set == InstructionSet::gfx12 ? decode_gfx12(words) : decode_gfx11(words);
}

}  // namespace cass::amdgpu
