#include "decoder_base.hpp"

namespace cass::rdna3 {

std::optional<Decoded> decode(InstructionSet set, std::span<const std::uint32_t> words) {
  if (words.empty()) return std::nullopt;
  return is_gfx9(set) ? decode_gfx9(set, words) : decode_gfx11(words);
}

}  // namespace cass::rdna3
