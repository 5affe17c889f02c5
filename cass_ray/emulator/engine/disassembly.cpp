// The text of decoded instructions, in LLVM's spelling.
#include <bit>
#include <cstdio>
#include <string>

#include "decoder.hpp"
#include "image.hpp"

namespace cass::amdgpu {
namespace {

namespace code = source_code;

std::string format(const char* pattern, auto... values) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, values...);
  return buffer;
}

std::string range(char letter, unsigned first, unsigned count) {
  if (count <= 1) return format("%c%u", letter, first);
  return format("%c[%u:%u]", letter, first, first + count - 1);
}

std::string special(unsigned number, unsigned count, bool wide) {
  const bool pair = count > 1 || wide;
  switch (number) {
    case code::vcc_lo: return pair ? "vcc" : "vcc_lo";
    case code::vcc_lo + 1: return "vcc_hi";
    case code::null: return "null";
    case code::m0: return "m0";
    case code::exec_lo: return pair ? "exec" : "exec_lo";
    case code::exec_hi: return "exec_hi";
    case 235: return "src_shared_base";
    case 236: return "src_shared_limit";
    case 237: return "src_private_base";
    case 238: return "src_private_limit";
    case code::pops_exiting_wave_id: return "src_pops_exiting_wave_id";
    case code::vccz: return "src_vccz";
    case code::execz: return "src_execz";
    case code::scc: return "src_scc";
    case code::lds_direct: return "src_lds_direct";
    default: break;
  }
  if (number >= 108 && number < 124) {
    return count > 1 ? format("ttmp[%u:%u]", number - 108, number - 109 + count)
                     : format("ttmp%u", number - 108);
  }
  return {};
}

// The last SGPRs of gfx9 (MI300 ISA, 3.6).
constexpr unsigned flat_scratch = 102, xnack_mask = 104;

std::string scratch_or_xnack(unsigned number, unsigned count) {
  std::string name = number < xnack_mask ? "flat_scratch" : "xnack_mask";
  if (count == 1) name += number % 2 == 0 ? "_lo" : "_hi";
  return name;
}

std::string field_text(const Field& field, const Decoded& decoded) {
  static constexpr const char* floats[] = {"0.5",  "-0.5", "1.0",  "-1.0",      "2.0",
                                           "-2.0", "4.0",  "-4.0", "0.15915494"};
  // A mask of the 64 lanes of gfx9; of gfx11 it is as wide as the wave, which the text does not
  // say.
  const bool wide_mask = field.type == Type::mask && is_gfx9(decoded.set);
  const unsigned count = wide_mask ? 2 : register_count(field.type);
  if (field.code >= code::accumulator_first) {
    return range('a', field.code - code::accumulator_first, count);
  }
  if (field.code >= code::vector_first) return range('v', field.code - code::vector_first, count);
  if (is_gfx9(decoded.set) && field.code >= flat_scratch && field.code < code::vcc_lo) {
    return scratch_or_xnack(field.code, count);
  }
  if (field.code < code::vcc_lo) return range('s', field.code, count);
  if (field.code == code::literal) {
    const unsigned literal = decoded.literal.value_or(0);
    return format("0x%x", is_16_bit(field.type) ? literal & 0xFFFFU : literal);
  }
  if (field.code >= code::integer_first && field.code <= code::integer_last) {
    const int value = static_cast<int>(field.code) - static_cast<int>(code::integer_first);
    return format("%d", value <= 64 ? value : 64 - value);
  }
  if (field.code >= code::float_first && field.code <= code::float_last) {
    if (field.code == code::float_last && is_64_bit(field.type)) return "0.15915494309189532";
    return floats[field.code - code::float_first];
  }
  return special(field.code, count, false);
}

// Packed formats write their modifiers behind the operands; left out here.
std::string source_text(const Field& field, const Decoded& decoded, bool packed) {
  std::string text = field_text(field, decoded);
  if (packed) return text;
  if ((field.modifiers & modifier::absolute) != 0) text = "|" + text + "|";
  if ((field.modifiers & modifier::negate) != 0) {
    const bool number = text.front() >= '0' && text.front() <= '9';
    text = number ? "neg(" + text + ")" : "-" + text;
  }
  return text;
}

std::string operation_text(const Operation& op, const Decoded& decoded) {
  std::string text = op.row->name;
  const char* separator = " ";
  const auto add = [&](const std::string& part) {
    text += separator + part;
    separator = ", ";
  };
  // A buffer atomic's result is where its operand was, which may be wider.
  const bool shared = op.row->encoding == Encoding::MUBUF && op.source[1].present();
  if (shared) {
    add(field_text(op.source[1], decoded));
  } else if (op.destination.present()) {
    add(field_text(op.destination, decoded));
  }
  if (op.scalar_destination.present()) add(field_text(op.scalar_destination, decoded));
  const Encoding encoding = op.row->encoding;
  const bool packed = encoding == Encoding::VOP3P && op.source[0].type != Type::mix;
  for (const Field& field : op.source) {
    const bool repeated = shared && &field == &op.source[1];
    if (field.present() && !repeated) add(source_text(field, decoded, packed));
  }
  if (encoding == Encoding::SOPK || encoding == Encoding::SOPP) {
    add(format("0x%x", static_cast<unsigned>(op.immediate) & 0xFFFFU));
  } else if (encoding == Encoding::MIMG) {
    const auto control = std::bit_cast<ImageControl>(op.immediate);
    text += format(" dmask:0x%x dim:%u", unsigned{control.mask}, unsigned{control.dimension});
  } else if (op.immediate != 0) {
    text += format(" offset:%lld", static_cast<long long>(op.immediate));
  }
  return text;
}

}  // namespace

std::string to_text(const Decoded& decoded) {
  std::string text = operation_text(decoded.operation, decoded);
  if (decoded.second) text += " :: " + operation_text(*decoded.second, decoded);
  if (decoded.sdwa) text += " sdwa";
  if (decoded.dpp) text += decoded.dpp->eight ? " dpp8" : " dpp16";
  return text;
}

}  // namespace cass::amdgpu
