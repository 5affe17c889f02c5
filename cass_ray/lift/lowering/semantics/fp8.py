"""Numbers of eight bits, E4M3 and E5M2, and of six and four: from and to half or single precision.

E4M3 has no infinity, and one NaN of each sign (OCP 8-bit Floating Point Specification, 1.0); E5M2
is the upper byte of half precision.
"""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Operand, Register
from cass_ray.lift.llvm.builder import Value, float_bits, i32
from cass_ray.lift.lowering.context import LoweringContext, float32_bits
from cass_ray.lift.lowering.table import lowers

_NAN_BYTE = 0x7F
_NAN_HALF = 0x7FFF
_INFINITE_SINGLE = 0x7F800000


@dataclass(frozen=True)
class SmallFloat:
    """How single precision becomes one of the two."""

    shift: int
    """Bits of a single-precision fraction that are lost."""
    bias: int
    least_normal: int
    """The least normal number, as bits of single precision."""
    step_of_denormals: int
    """Bits of the single-precision number whose last place is the distance of denormal numbers."""
    largest: int
    """The byte of the largest finite number."""


_KINDS = {
    "E4M3": SmallFloat(20, 7, 0x3C800000, 0x46800000, 0x7E),  # 2^-6, 2^14
    "E5M2": SmallFloat(21, 15, 0x38800000, 0x43000000, 0x7B),  # 2^-14, 2^7
}


def _name(i: DecodedInstruction) -> str:
    return i.one_of(*_KINDS)


def _kind(i: DecodedInstruction) -> SmallFloat:
    return _KINDS[_name(i)]


@lowers("F2FP{,.RELU}.F16.{E4M3,E5M2}.UNPACK_B")
def to_halves(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The low two bytes of a word, or with .H1 the high two, to half precision; exact."""
    target, source = i.operands.exactly(2)
    word = _word(ctx, source)
    halves = [
        half_of_byte(ctx, _name(i), ctx.ir.op("lshr", word, i32(8 * n)), is_relu=i.has("RELU"))
        for n in range(2)
    ]
    ctx.write(target, ctx.ir.op("or", halves[0], ctx.ir.op("shl", halves[1], i32(16))))


def _word(ctx: LoweringContext, source: Operand) -> Value:
    """A literal is printed as the single-precision number that has its bits."""
    if isinstance(source, Immediate):
        if "NAN" in source.text:
            raise UnknownForm(source.text, "the listing does not say which bits this literal has")
        return i32(float32_bits(source))
    return ctx.integer(source)


def half_of_byte(ctx: LoweringContext, kind: str, byte: Value, *, is_relu: bool = False) -> Value:
    """The 16 bits of the number in the low byte; ``kind``: E4M3 or E5M2."""
    sign = ctx.ir.op("shl", ctx.ir.op("and", byte, i32(0x80)), i32(8))
    magnitude = ctx.ir.op("and", byte, i32(0x7F))
    if kind == "E5M2":
        bits = ctx.ir.op("shl", magnitude, i32(8))
        is_nan = ctx.ir.icmp("ugt", magnitude, i32(0x7C))
    else:
        bits = _scaled_half(ctx, ctx.ir.op("shl", magnitude, i32(7)), "0xH5C00")
        is_nan = ctx.ir.icmp("eq", magnitude, i32(_NAN_BYTE))
    bits = ctx.ir.op("or", bits, sign)
    if is_relu:
        bits = ctx.ir.select(ctx.ir.icmp("ne", sign, i32(0)), i32(0), bits)
    return ctx.ir.select(is_nan, i32(_NAN_HALF), bits)


def _scaled_half(ctx: LoweringContext, bits: Value, scale: str) -> Value:
    """The 16 bits of a number whose exponent has another bias than half precision's, times that."""
    number = ctx.ir.cast("bitcast", ctx.ir.cast("trunc", bits, "i16"), "half")
    scaled = ctx.ir.op("fmul", number, Value("half", scale))
    return ctx.ir.cast("zext", ctx.ir.cast("bitcast", scaled, "i16"), "i32")


@dataclass(frozen=True)
class NarrowFloat:
    """A number of four or six bits as a byte has it: bit 5 is the sign."""

    magnitude: int
    """Mask of exponent and fraction."""
    shift: int
    """How far these bits lie from where half precision has them."""
    scale: str
    """What the biases differ by, in half precision."""


NARROW_KINDS = {
    "E3M2": NarrowFloat(0x1F, 8, "0xH6C00"),  # 2^12: the bias is 3
    "E2M3": NarrowFloat(0x1F, 7, "0xH7400"),  # 2^14: the bias is 1
    "E2M1": NarrowFloat(0x1C, 7, "0xH7400"),
}
"""OCP Microscaling Formats, 1.0: all codes are numbers. In the bytes of a fragment (PTX ISA, Matrix
Fragments for mma.m16n8k32) six bits are the lowest, four bits those from bit 2 on (CUTLASS,
``fp4_shift_A`` of ``mma_traits_sm120.hpp``); the others count for nothing."""


def half_of_narrow(ctx: LoweringContext, kind: str, byte: Value) -> Value:
    """The 16 bits of the number of four or six bits in the low byte; exact."""
    of = NARROW_KINDS[kind]
    sign = ctx.ir.op("shl", ctx.ir.op("and", byte, i32(0x20)), i32(10))
    magnitude = ctx.ir.op("shl", ctx.ir.op("and", byte, i32(of.magnitude)), i32(of.shift))
    return ctx.ir.op("or", _scaled_half(ctx, magnitude, of.scale), sign)


@lowers("F2FP.SATFINITE{,.RELU}.{E4M3,E5M2}.F32.PACK_AB_MERGE_C")
def from_singles(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Two numbers, the first to the upper byte; nothing stands above them."""
    target, high, low, rest = i.operands.exactly(4)
    _pack(ctx, i, target, [ctx.float32(high), ctx.float32(low)], rest)


@lowers("F2FP.SATFINITE{,.RELU}.{E4M3,E5M2}.F16.UNPACK_B_MERGE_C")
def from_halves(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Both halves of a word; nothing stands above them."""
    target, source, rest = i.operands.exactly(3)
    word = _word(ctx, source)
    halves = [ctx.ir.cast("trunc", ctx.ir.op("lshr", word, i32(n)), "i16") for n in (16, 0)]
    numbers = [ctx.ir.cast("fpext", ctx.ir.cast("bitcast", h, "half"), "float") for h in halves]
    _pack(ctx, i, target, numbers, rest)


def _pack(
    ctx: LoweringContext, i: DecodedInstruction, target: Operand, pair: list[Value], rest: Operand
) -> None:
    if not isinstance(rest, Register) or not rest.is_zero:
        raise i.unknown("bytes to keep")
    high, low = (_to_byte(ctx, i, value) for value in pair)
    ctx.write(target, ctx.ir.op("or", low, ctx.ir.op("shl", high, i32(8))))


def _to_byte(ctx: LoweringContext, i: DecodedInstruction, value: Value) -> Value:
    """Round to nearest even; beyond the largest finite number that one, NaN where there is none."""
    kind = _kind(i)
    bits = ctx.ir.cast("bitcast", value, "i32")
    magnitude = ctx.ir.op("and", bits, i32(0x7FFFFFFF))
    # A last place more than half rounds up, and half does where the place above is odd.
    odd = ctx.ir.op("and", ctx.ir.op("lshr", magnitude, i32(kind.shift)), i32(1))
    half = ctx.ir.sum(magnitude, odd, i32((1 << kind.shift - 1) - 1))
    normal = ctx.ir.op("lshr", half, i32(kind.shift))
    normal = ctx.ir.op("sub", normal, i32((127 - kind.bias) << 23 - kind.shift))
    step = float_bits(kind.step_of_denormals)
    summed = ctx.ir.op("fadd", ctx.ir.cast("bitcast", magnitude, "float"), step)
    denormal = ctx.ir.op("sub", ctx.ir.cast("bitcast", summed, "i32"), i32(kind.step_of_denormals))
    is_normal = ctx.ir.icmp("uge", magnitude, i32(kind.least_normal))
    rounded = ctx.ir.select(is_normal, normal, denormal)
    byte = ctx.ir.call("i32", "llvm.umin.i32", rounded, i32(kind.largest))
    sign = ctx.ir.op("lshr", ctx.ir.op("and", bits, i32(0x80000000)), i32(24))
    byte = ctx.ir.op("or", byte, sign)
    if i.has("RELU"):
        byte = ctx.ir.select(ctx.ir.icmp("ne", sign, i32(0)), i32(0), byte)
    is_nan = ctx.ir.icmp("ugt", magnitude, i32(_INFINITE_SINGLE))
    return ctx.ir.select(is_nan, i32(_NAN_BYTE), byte)
