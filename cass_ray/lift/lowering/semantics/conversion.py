"""Conversions between integers and floating point, and between widths.

Out of range gives the nearest integer. NaN gives 0 with .NTZ, else the word with only its top bit.
"""

from __future__ import annotations

from cass_ray.assembly.wave_mode import Rounding
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Operand, Register
from cass_ray.lift.llvm.builder import (
    FALSE,
    TRUE,
    Value,
    double_bits,
    float_bits,
    i32,
    i64,
    integer_constant,
)
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.semantics.float32 import (
    TF32_LOST_BITS,
    flush,
    flushed,
    in_mode,
    rounding_of,
)
from cass_ray.lift.lowering.semantics.integer import minimum_or_maximum
from cass_ray.lift.lowering.table import lowers

_NARROW = {
    "U8": ("zext", "i8"),
    "S8": ("sext", "i8"),
    "U16": ("zext", "i16"),
    "S16": ("sext", "i16"),
}
_INTEGERS = "{,.U8,.S8,.U16,.S16,.U32,.S32,.U64,.S64}"
_ROUND = "{,.RM,.RP,.RZ}"


def _integer_source(
    ctx: LoweringContext, i: DecodedInstruction, operand: Operand
) -> tuple[Value, bool]:
    """The integer to convert, as i32 or i64, and whether it is unsigned."""
    kind = i.one_of(*_NARROW, "U32", "S32", "U64", "S64", default="S32")
    if kind in ("U64", "S64"):
        if isinstance(operand, Immediate):  # ptxas: mov.u64 %rd, 1 << 61 is I2F.U64 R2, 0x20000000
            return i64(operand.integer << 32), kind == "U64"
        return ctx.wide(operand), kind == "U64"
    value = ctx.integer(operand)
    if kind in _NARROW:
        how, narrow = _NARROW[kind]
        value = ctx.ir.cast(how, ctx.ir.cast("trunc", value, narrow), "i32")
    return value, kind.startswith("U")


@lowers(
    f"{{,U}}I2F{{,.F64,.F32,.F16,.BF16}}{_INTEGERS}{_ROUND}", f"{{,U}}I2FP.F32{{.U32,.S32}}{_ROUND}"
)
def integer_to_float(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Integer to half, single or double precision."""
    value, unsigned = _integer_source(ctx, i, i.operands[1])
    if i.has("F64"):
        ctx.write_wide(i.operands[0], _to_double(ctx, i, value, unsigned=unsigned))
    elif i.has("F16"):
        ctx.write(i.operands[0], _to_half(ctx, i, value, unsigned=unsigned))
    elif i.has("BF16"):
        if rounding_of(i):
            raise i.unknown("this integer to bfloat")
        if value.type == "i64":
            value = _with_sticky_bit(ctx, value, unsigned=unsigned)
        exact = ctx.ir.cast("uitofp" if unsigned else "sitofp", value, "double")
        _write(ctx, i.operands[0], ctx.ir.cast("fptrunc", exact, "bfloat"))
    else:
        converted = _to_single(ctx, i, value, unsigned=unsigned)
        ctx.floats.mark_normal(converted)
        if i.has("RP") and value.type == "i32":
            ctx.registers.divisions.note_rounded_up(converted, value, unsigned=unsigned)
        ctx.write(i.operands[0], converted)


def _with_sticky_bit(ctx: LoweringContext, value: Value, *, unsigned: bool) -> Value:
    """An integer that rounds to few bits as ``value`` does, and is exact as a double.

    From 2^40 on, where any of the low 24 bits is set the lowest of those above them stands for it.
    """
    magnitude = value if unsigned else ctx.ir.call("i64", "llvm.abs.i64", value, FALSE)
    lost = ctx.ir.op("and", value, i64((1 << 24) - 1))
    sticky = ctx.ir.cast("zext", ctx.ir.icmp("ne", lost, i64(0)), "i64")
    shift = "lshr" if unsigned else "ashr"
    significand = ctx.ir.op("or", ctx.ir.op(shift, value, i64(24)), sticky)
    is_large = ctx.ir.icmp("uge", magnitude, i64(1 << 40))
    return ctx.ir.select(is_large, ctx.ir.op("shl", significand, i64(24)), value)


def _to_single(
    ctx: LoweringContext, i: DecodedInstruction, value: Value, *, unsigned: bool
) -> Value:
    rounding = rounding_of(i)
    if not rounding:
        return ctx.ir.cast("uitofp" if unsigned else "sitofp", value, "float")
    if value.type == "i64":
        return _wide_rounded(ctx, i, value, unsigned)
    text = f"v_cvt_f32_{'u' if unsigned else 'i'}32"
    return in_mode(ctx, text, "float", [value], rounding=rounding)


def _to_double(
    ctx: LoweringContext, i: DecodedInstruction, value: Value, *, unsigned: bool
) -> Value:
    """Both halves of a wide integer are exact: their sum is what is rounded."""
    rounding = rounding_of(i)
    how = "uitofp" if unsigned else "sitofp"
    if not rounding or value.type != "i64":
        return ctx.ir.cast(how, value, "double")
    high = ctx.ir.cast(how, ctx.ir.high(value), "double")
    scaled = ctx.ir.op("fmul", high, double_bits(0x41F0000000000000))  # 2^32
    low = ctx.ir.cast("uitofp", ctx.ir.low(value), "double")
    return in_mode(ctx, "v_add_f64", "double", [scaled, low], rounding=rounding.half_and_double)


def _to_half(ctx: LoweringContext, i: DecodedInstruction, value: Value, *, unsigned: bool) -> Value:
    """The word; rounded twice in one direction is rounded once."""
    if not rounding_of(i):
        half = ctx.ir.cast("uitofp" if unsigned else "sitofp", value, "half")
        return ctx.ir.cast("zext", ctx.ir.cast("bitcast", half, "i16"), "i32")
    single = _to_single(ctx, i, value, unsigned=unsigned)
    word = in_mode(ctx, "v_cvt_f16_f32", "i32", [single], rounding=rounding_of(i).half_and_double)
    return ctx.ir.op("and", word, i32(0xFFFF))


def _wide_rounded(
    ctx: LoweringContext, i: DecodedInstruction, value: Value, unsigned: bool
) -> Value:
    """A 64-bit integer to single precision with directed rounding.

    Rounded to nearest, compared with the integer, and moved by one unit where it is on the wrong
    side: the neighbour of a positive number upwards is the next word.
    """
    sign = "u" if unsigned else "s"
    nearest = ctx.ir.cast(f"{sign}itofp", value, "float")
    back = ctx.ir.call("i64", f"llvm.fpto{sign}i.sat.i64.f32", nearest)
    # 2^63 or 2^64 is what the nearest can be above all integers, and saturates to the largest.
    top = ctx.ir.fcmp("oeq", nearest, float_bits(0x5F800000 if unsigned else 0x5F000000))
    above = ctx.ir.either(top, ctx.ir.icmp(f"{sign}gt", back, value))
    below = ctx.ir.both(ctx.ir.invert(top), ctx.ir.icmp(f"{sign}lt", back, value))
    word = ctx.ir.cast("bitcast", nearest, "i32")
    negative = FALSE if unsigned else ctx.ir.icmp("slt", word, i32(0))
    outwards, inwards = ctx.ir.op("add", word, i32(1)), ctx.ir.op("sub", word, i32(1))
    up, down = ctx.select(negative, inwards, outwards), ctx.select(negative, outwards, inwards)
    if i.has("RP"):
        moved = ctx.select(below, up, word)
    elif i.has("RM"):
        moved = ctx.select(above, down, word)
    else:
        wrong = ctx.select(negative, below, above)
        moved = ctx.select(wrong, inwards, word)
    return ctx.ir.cast("bitcast", moved, "float")


def _float_source(ctx: LoweringContext, i: DecodedInstruction, operand: Operand) -> Value:
    """The number to convert, as float or double."""
    if i.has("F64"):
        return ctx.float64(operand)
    if i.has("F16") or i.has("BF16"):
        half = ctx.half(operand, "bfloat" if i.has("BF16") else "half")
        return ctx.ir.cast("fpext", half, "float")
    value = ctx.float32(operand)
    # Up and down, a denormal number is not zero; to zero and to the nearest it is.
    matters = i.has("FLOOR") or i.has("CEIL")
    return flush(ctx, value) if matters and i.has("FTZ") else value


def rounded(ctx: LoweringContext, i: DecodedInstruction, value: Value) -> Value:
    """Round to an integral value: down, up, to zero, or to nearest even."""
    names = {"TRUNC": "trunc", "FLOOR": "floor", "CEIL": "ceil"}
    name = names.get(i.one_of(*names), "roundeven")
    return ctx.ir.call(
        value.type, f"llvm.{name}.{'f64' if value.type == 'double' else 'f32'}", value
    )


@lowers(
    "{,U}F2I{,.FTZ}{,.U8,.S8,.U16,.S16,.U32,.S32,.U64,.S64}{,.F64,.F16,.BF16}{,.TRUNC,.FLOOR,.CEIL}{,.NTZ}"
)
def float_to_integer(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Half, single or double precision to an integer; narrow ones are extended to a word.

    ptxas relies on it: ``cvt.s32.s16`` after ``F2I.S16`` is no instruction.
    """
    value = _float_source(ctx, i, i.operands[1])
    kind = i.one_of(*_NARROW, "U32", "S32", "U64", "S64", default="S32")
    unsigned = kind.startswith("U")
    if not i.has("TRUNC"):
        value = rounded(ctx, i, value)
    if kind in ("U64", "S64"):
        result = _saturating(ctx, value, unsigned=unsigned, kind="i64")
    else:
        result = _to_word(ctx, value, unsigned=unsigned)
    bits = int(kind[1:])
    if kind in _NARROW:
        result = _clamped(ctx, result, kind)
    if not i.has("NTZ"):
        is_nan = ctx.ir.fcmp("uno", value, value)
        extended = kind in _NARROW and not unsigned
        top = integer_constant(result.type, (-1 if extended else 1) << bits - 1)
        result = ctx.select(is_nan, top, result)
    if result.type == "i64":
        ctx.write_wide(i.operands[0], result)
    else:
        ctx.write(i.operands[0], result)


@lowers("{F2IP,UF2IP}.{U8,S8}.F32{,.TRUNC,.FLOOR,.CEIL}.NTZ")
def float_to_byte(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Single precision to a byte; the instruction packs more, which is not seen in code."""
    target, above, source, below = i.operands.exactly(4)
    if not all(isinstance(o, Register) and o.is_zero for o in (above, below)):
        raise i.unknown("a conversion of two numbers")
    value = ctx.float32(source)
    if not i.has("TRUNC"):
        value = rounded(ctx, i, value)
    result = _to_word(ctx, value, unsigned=i.has("U8"))
    ctx.write(target, ctx.ir.op("and", _clamped(ctx, result, i.modifiers[0]), i32(0xFF)))


def _to_word(ctx: LoweringContext, value: Value, *, unsigned: bool) -> Value:
    """One instruction: it truncates, saturates, and gives 0 for NaN."""
    source = "f64" if value.type == "double" else "f32"
    return ctx.ir.asm("i32", f"v_cvt_{'u' if unsigned else 'i'}32_{source} $0, $1", "=v,v", value)


def _saturating(ctx: LoweringContext, value: Value, *, unsigned: bool, kind: str) -> Value:
    source = "f64" if value.type == "double" else "f32"
    name = f"llvm.fpto{'u' if unsigned else 's'}i.sat.{kind}.{source}"
    return ctx.ir.call(kind, name, value)


def _clamped(ctx: LoweringContext, value: Value, kind: str) -> Value:
    bits = int(kind[1:])
    if kind[0] == "U":
        return minimum_or_maximum(ctx, value, i32((1 << bits) - 1), TRUE, "u")
    high, low = i32((1 << bits - 1) - 1), i32(-(1 << bits - 1))
    least = minimum_or_maximum(ctx, value, high, TRUE, "s")
    return minimum_or_maximum(ctx, least, low, FALSE, "s")


@lowers(
    "F2F{,.FTZ}.{F64.F32,F32.F64,F16.F32,F32.F16,F64.F16,F16.F64,BF16.F32,BF16.F16,F16.BF16,BF16.F64,F64.BF16,F32.BF16,F32.F32,F64.F64}{,.RM,.RP,.RZ}"
)
@lowers("F2F{,.FTZ}.{F32.F32,F64.F64}.{TRUNC,FLOOR,CEIL}", "F2F.{TRUNC,FLOOR,CEIL}")
@lowers("UF2F{,.FTZ}.{F16.F32,F32.F16,BF16.F32,F32.BF16}{,.RM,.RP,.RZ}")
def float_to_float(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Convert between precisions; within one precision it rounds to an integral value."""
    kinds = [m for m in i.modifiers if m in ("F16", "BF16", "F32", "F64")] or ["F32", "F32"]
    target, source = kinds
    rounding = rounding_of(i)
    operand = i.operands[1]
    if source == "F64":
        value = ctx.float64(operand)
    elif source in ("F16", "BF16"):
        value = ctx.half(operand, _TYPES[source])
    else:
        value = flushed(ctx, i, operand)
    if target == source:
        if rounding:
            raise i.unknown("directed rounding to an integral value")
        result = rounded(ctx, i, value)
    elif rounding:
        result = _narrowed_in_mode(ctx, i, value, kinds)
    else:
        result = _resized(ctx, value, target)
    if i.has("FTZ") and target == "F32" and source == "F64":
        result = flush(ctx, result)
    _write(ctx, i.operands[0], result)


def _narrowed_in_mode(
    ctx: LoweringContext, i: DecodedInstruction, value: Value, kinds: list[str]
) -> Value:
    """Convert with directed rounding; the mode of the precision converted to decides."""
    rounding = rounding_of(i)
    if kinds == ["F32", "F64"]:
        return in_mode(ctx, "v_cvt_f32_f64", "float", [value], rounding=rounding)
    if kinds == ["F16", "F32"]:
        word = in_mode(ctx, "v_cvt_f16_f32", "i32", [value], rounding=rounding.half_and_double)
        return ctx.ir.cast("bitcast", ctx.ir.cast("trunc", word, "i16"), "half")
    if kinds == ["F16", "F64"]:  # twice in one direction is once
        single = in_mode(ctx, "v_cvt_f32_f64", "float", [value], rounding=rounding)
        word = in_mode(ctx, "v_cvt_f16_f32", "i32", [single], rounding=rounding.half_and_double)
        return ctx.ir.cast("bitcast", ctx.ir.cast("trunc", word, "i16"), "half")
    if kinds == ["BF16", "F32"] and i.has("RZ"):
        word = cut_to_half(ctx, value, bfloat=True)
        return ctx.ir.cast("bitcast", ctx.ir.cast("trunc", word, "i16"), "bfloat")
    raise i.unknown("directed rounding between these precisions")


_TYPES = {"F16": "half", "BF16": "bfloat", "F32": "float", "F64": "double"}
_SIZES = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


def _resized(ctx: LoweringContext, value: Value, target: str) -> Value:
    kind = _TYPES[target]
    if _SIZES[kind] == _SIZES[value.type]:
        value = ctx.ir.cast("fpext", value, "float")
    return ctx.ir.cast("fptrunc" if _SIZES[kind] < _SIZES[value.type] else "fpext", value, kind)


def _write(ctx: LoweringContext, target: Operand, value: Value) -> None:
    if value.type == "double":
        ctx.write_wide(target, value)
    elif value.type == "float":
        ctx.write(target, value)
    else:
        ctx.write(target, ctx.ir.cast("zext", ctx.ir.cast("bitcast", value, "i16"), "i32"))


@lowers("{,U}FRND{,.FTZ}{,.F64,.F32,.F16}{,.TRUNC,.FLOOR,.CEIL}")
def round_to_integral(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Round to an integral value of the same precision."""
    value = _float_source(ctx, i, i.operands[1])
    result = rounded(ctx, i, value)
    if i.has("F16"):
        result = ctx.ir.cast("fptrunc", result, "half")
    _write(ctx, i.operands[0], result)


@lowers("{,U}F2FP{,.RELU}{,.F16,.BF16}{,.F32}.{PACK_AB,MERGE_C}{,.RZ}")
def pack_halves(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Two numbers to half precision in one word, the first in the high half.

    With .MERGE_C it is one number, for the low half of a zero.
    """
    target, operands = i.operands[0], i.operands[1:]
    if i.has("MERGE_C"):
        if not (isinstance(operands[1], Register) and operands[1].is_zero):
            raise i.unknown("merging with a register")
        ctx.write(target, _half_word(ctx, i, ctx.float32(operands[0])))
        return
    high, low = (_half_word(ctx, i, ctx.float32(operand)) for operand in operands.exactly(2))
    ctx.write(target, ctx.ir.op("or", ctx.ir.op("shl", high, i32(16)), low))


@lowers("F2FP{,.RELU}.TF32.F32.PACK_B{,.RZ}")
def to_tensor_float(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Single precision with a fraction of 10 bits, to nearest even or cut."""
    value = ctx.float32(i.operands[1])
    word = ctx.ir.cast("bitcast", value, "i32")
    if not i.has("RZ"):
        odd = ctx.ir.op("and", ctx.ir.op("lshr", word, i32(TF32_LOST_BITS)), i32(1))
        word = ctx.ir.op("add", word, ctx.ir.op("add", odd, i32((1 << TF32_LOST_BITS - 1) - 1)))
    word = ctx.ir.op("and", word, i32(-1 << TF32_LOST_BITS))
    if i.has("RELU"):
        word = ctx.select(ctx.ir.icmp("slt", word, i32(0)), i32(0), word)
    ctx.write(i.operands[0], ctx.select(ctx.ir.fcmp("uno", value, value), i32(0x7FFFFFFF), word))


def _half_word(ctx: LoweringContext, i: DecodedInstruction, value: Value) -> Value:
    """A single-precision number as half in a word, rounded and clamped as the modifiers say."""
    zero = float_bits(0)
    if i.has("RELU"):  # NaN stays
        value = ctx.select(ctx.ir.fcmp("ugt", value, zero), value, zero)
    if i.has("RZ"):
        return cut_to_half(ctx, value, bfloat=i.has("BF16"))
    half = ctx.ir.cast("fptrunc", value, "bfloat" if i.has("BF16") else "half")
    return ctx.ir.cast("zext", ctx.ir.cast("bitcast", half, "i16"), "i32")


def cut_to_half(ctx: LoweringContext, value: Value, *, bfloat: bool) -> Value:
    """A single-precision number as half in a word, rounded to zero."""
    if not bfloat:
        word = in_mode(
            ctx, "v_cvt_f16_f32", "i32", [value], rounding=Rounding.TO_ZERO.half_and_double
        )
        return ctx.ir.op("and", word, i32(0xFFFF))
    cut = ctx.ir.op("lshr", ctx.ir.cast("bitcast", value, "i32"), i32(16))
    return ctx.select(ctx.ir.fcmp("uno", value, value), i32(0x7FFF), cut)


@lowers("I2IP.{S16,U16,S8,U8}.S32.SAT")
def pack_integers(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Two words clamped to halves or bytes and packed; bytes go below a third word."""
    target, high, low, rest = i.operands.exactly(4)
    kind = i.modifiers[0]
    bits = int(kind[1:])
    parts = [_clamp_signed(ctx, ctx.integer(operand), kind) for operand in (high, low)]
    mask = i32((1 << bits) - 1)
    packed = ctx.ir.op("shl", ctx.ir.op("and", parts[0], mask), i32(bits))
    packed = ctx.ir.op("or", packed, ctx.ir.op("and", parts[1], mask))
    if bits == 8:
        packed = ctx.ir.op("or", packed, ctx.ir.op("shl", ctx.integer(rest), i32(16)))
    ctx.write(target, packed)


def _clamp_signed(ctx: LoweringContext, value: Value, kind: str) -> Value:
    """A signed word clamped to a narrower type."""
    bits = int(kind[1:])
    low, high = (0, (1 << bits) - 1) if kind[0] == "U" else (-(1 << bits - 1), (1 << bits - 1) - 1)
    least = minimum_or_maximum(ctx, value, i32(high), TRUE, "s")
    return minimum_or_maximum(ctx, least, i32(low), FALSE, "s")


@lowers("I2I.{U8,S8,U16,S16}.{S32,U32}{,.SAT}")
def integer_to_integer(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Convert to a narrower integer, clamped with .SAT."""
    kind, source = i.modifiers[0], i.modifiers[1]
    value = ctx.integer(i.operands[1])
    if not i.has("SAT") or (source == "U32" and kind[0] == "S"):
        raise i.unknown("a narrowing that does not clamp")
    bits = int(kind[1:])
    if source == "U32":
        clamped = minimum_or_maximum(ctx, value, i32((1 << bits) - 1), TRUE, "u")
    else:
        clamped = _clamp_signed(ctx, value, kind)
    ctx.write(i.operands[0], clamped)
