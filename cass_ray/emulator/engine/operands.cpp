#include "operands.hpp"

#include "wave.hpp"

namespace cass::amdgpu {
namespace {

namespace code = source_code;

constexpr std::uint32_t float_bits[] = {0x3F000000, 0xBF000000, 0x3F800000, 0xBF800000, 0x40000000,
                                        0xC0000000, 0x40800000, 0xC0800000, 0x3E22F983};
constexpr std::uint16_t half_bits[] = {0x3800, 0xB800, 0x3C00, 0xBC00, 0x4000,
                                       0xC000, 0x4400, 0xC400, 0x3118};
constexpr std::uint32_t double_high_bits[] = {0x3FE00000, 0xBFE00000, 0x3FF00000,
                                              0xBFF00000, 0x40000000, 0xC0000000,
                                              0x40100000, 0xC0100000, 0x3FC45F30};

bool is_constant(unsigned number) {
  if (number < code::integer_first) return false;
  const bool kept = number >= code::kept_first && number <= code::kept_last;
  const bool aperture = number >= code::aperture_first && number <= code::pops_exiting_wave_id;
  return !kept && !aperture && number != code::vccz && number != code::execz && number != code::scc;
}

unsigned scalar_place(const Field& field, bool written, const OperandContext& context) {
  switch (field.code) {
    case code::pops_exiting_wave_id: return scalar::zero;
    case code::null: return written ? scalar::discard : scalar::zero;
    case code::vccz: return scalar::vccz;
    case code::execz: return scalar::execz;
    case code::scc: return scalar::scc;
    default: break;
  }
  if (field.code >= code::kept_first && field.code <= code::kept_last) {
    return scalar::kept + field.code - code::kept_first;
  }
  if (field.code >= code::aperture_first && field.code <= code::aperture_last) {
    return scalar::apertures + 2 * (field.code - code::aperture_first);
  }
  // A mask of 64 lanes takes two registers, one per half.
  if (field.type == Type::mask && context.wide) return field.code + context.half;
  return field.code;
}

void lower_constant(const Field& field, std::uint32_t literal, Operand& operand) {
  operand.kind = OperandKind::constant;
  const bool half = is_16_bit(field.type) || field.type == Type::pk16 ||
                    (field.type == Type::mix && (field.modifiers & modifier::select_high) != 0);
  if (is_16_bit(field.type)) {
    operand.modifiers &= static_cast<std::uint8_t>(~modifier::high);
  }
  if (field.code == code::literal) {
    operand.value = literal;
    if (field.type == Type::f64) operand.kind = OperandKind::constant_high;
    if (field.type == Type::i64) operand.kind = OperandKind::constant_sign;
    return;
  }
  if (field.code >= code::float_first && field.code <= code::float_last) {
    const unsigned which = field.code - code::float_first;
    // Any operand of 64 bits takes the double: compilers load doubles with s_mov_b64.
    if (is_64_bit(field.type)) {
      operand.value = double_high_bits[which];
      operand.kind = field.code == code::float_last ? OperandKind::constant_inverse_2pi
                                                    : OperandKind::constant_high;
    } else {
      operand.value = half ? half_bits[which] : float_bits[which];
    }
    return;
  }
  const int number = static_cast<int>(field.code) - static_cast<int>(code::integer_first);
  operand.value = static_cast<std::uint32_t>(number <= 64 ? number : 64 - number);
  if (is_64_bit(field.type)) operand.kind = OperandKind::constant_sign;
}

}  // namespace

Operand lower_operand(const Field& field, bool written, const OperandContext& context) {
  Operand operand;
  if (!field.present()) return operand;
  operand.modifiers = field.modifiers;
  operand.index = field.code;
  if (field.code >= code::vector_first) {
    const unsigned number = field.code - code::vector_first;
    operand.kind = OperandKind::vector;
    operand.index = static_cast<std::uint16_t>(number);
    operand.value = vector_offset(number, context.wide, context.half);
    return operand;
  }
  if (is_constant(field.code)) {
    lower_constant(field, context.literal, operand);
    return operand;
  }
  operand.kind = OperandKind::scalar;
  operand.value = scalar_offset(scalar_place(field, written, context));
  return operand;
}

unsigned vector_registers(const Field& field) {
  if (!field.present() || field.code < code::vector_first) return 0;
  return field.code - code::vector_first + register_count(field.type);
}

}  // namespace cass::amdgpu
