"""Packed half precision: two numbers of 16 bits in a word, fp16 or bf16."""

from __future__ import annotations

from dataclasses import replace

from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Immediate, Operand, Operands, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32, i64
from cass_ray.lift.lowering.context import LoweringContext, half_bits
from cass_ray.lift.lowering.semantics.conversion import cut_to_half
from cass_ray.lift.lowering.semantics.float32 import CONDITION_NAMES, CONDITIONS, saturated
from cass_ray.lift.lowering.semantics.predicate import join
from cass_ray.lift.lowering.table import lowers

_ORDERS = {"H0_H0": (0, 0), "H1_H1": (1, 1), "H1_H0": (0, 1), "H0_H1": (1, 0), "H0_NH1": None}


def element_type(i: DecodedInstruction) -> str:
    """The type of the numbers: half, or bfloat where the modifiers say so."""
    return "bfloat" if i.has("BF16_V2") or i.has("BF16") else "half"


def _suffix(kind: str) -> str:
    return "v2bf16" if kind == "bfloat" else "v2f16"


def sources(
    ctx: LoweringContext, i: DecodedInstruction, operands: Operands, kind: str
) -> list[Value]:
    """Vectors of two; two literals in a row are the high and the low half of one."""
    values: list[Value] = []
    pending: Immediate | None = None
    for operand in operands:
        if isinstance(operand, Immediate) and not (operand.is_bits and pending is None):
            if pending is None:
                pending = operand
                continue
            if operand.is_bits:
                raise i.unknown("half of a literal")
            word = half_bits(pending, kind) << 16 | half_bits(operand, kind)
            pending = None
            values.append(ctx.ir.result(f"<2 x {kind}>", f"bitcast {i32(word)} to <2 x {kind}>"))
            continue
        values.append(_vector(ctx, operand, kind))
    if pending is not None:
        raise i.unknown("half of a literal")
    return [_flushed(ctx, value, kind) for value in values] if i.has("FTZ") else values


def _two_sources(
    ctx: LoweringContext, i: DecodedInstruction, operands: Operands, kind: str
) -> tuple[Value, Value]:
    values = sources(ctx, i, operands, kind)
    if len(values) != 2:
        raise i.unknown("not two operands")
    return values[0], values[1]


def _flushed(ctx: LoweringContext, value: Value, kind: str) -> Value:
    """Denormal numbers made zeros of their sign."""
    exponent = 0x7F807F80 if kind == "bfloat" else 0x7C007C00
    pairs = "<2 x i16>"
    word = ctx.ir.result("i32", f"bitcast {value} to i32")
    bits = ctx.ir.result(pairs, f"bitcast {word} to {pairs}")
    signs = ctx.ir.result(pairs, f"bitcast {ctx.ir.op('and', word, i32(0x80008000))} to {pairs}")
    exponents = ctx.ir.result(pairs, f"bitcast {ctx.ir.op('and', word, i32(exponent))} to {pairs}")
    small = ctx.ir.result("<2 x i1>", f"icmp eq {exponents}, zeroinitializer")
    chosen = ctx.ir.result(pairs, f"select {small}, {signs}, {bits}")
    return ctx.ir.result(value.type, f"bitcast {chosen} to {value.type}")


def _vector(ctx: LoweringContext, operand: Operand, kind: str) -> Value:
    vector_type = f"<2 x {kind}>"
    value = ctx.ir.result(vector_type, f"bitcast {ctx.bits(operand)} to {vector_type}")
    if not isinstance(operand, Register | Constant):
        return value
    order = _ORDERS["H1_H0"]
    for suffix in operand.suffixes:
        order = _ORDERS.get(suffix)
        if order is None:
            raise UnknownForm(str(operand), f"selector {suffix}")
    if order != (0, 1):
        assert order is not None
        mask = f"<2 x i32> <i32 {order[0]}, i32 {order[1]}>"
        value = ctx.ir.result(vector_type, f"shufflevector {value}, {value}, {mask}")
    if operand.inverted:
        raise UnknownForm(str(operand), "an inverted operand")
    if operand.absolute:
        value = ctx.ir.call(vector_type, f"llvm.fabs.{_suffix(kind)}", value)
    return ctx.ir.fneg(value) if operand.negated else value


_TINY = Value("double", "0x3F0FFE0000000000")
"""2^-14 - 2^-26: smaller results do not become normal with eleven bits, whatever rounding does."""


def _flushed_exact(ctx: LoweringContext, value: Value, exact: list[Value]) -> Value:
    """Packed fp16 ``value``, with zeros where the result before rounding is denormal."""
    word = ctx.ir.result("i32", f"bitcast {value} to i32")
    for number, result in enumerate(exact):
        size = ctx.ir.call("double", "llvm.fabs.f64", result)
        other_half = ctx.ir.op("and", word, i32(~(0x7FFF << 16 * number)))
        word = ctx.select(ctx.ir.fcmp("olt", size, _TINY), other_half, word)
    return ctx.ir.result(value.type, f"bitcast {word} to {value.type}")


def _in_double(ctx: LoweringContext, vectors: list[Value], plain: str) -> list[Value]:
    """An operation on both pairs of fp16 numbers in double precision."""
    results = []
    for number in range(2):
        wide = [ctx.ir.cast("fpext", ctx.ir.element(v, number, "half"), "double") for v in vectors]
        if plain == "fma":
            results.append(ctx.ir.call("double", "llvm.fma.f64", *wide))
        else:
            results.append(ctx.ir.op(plain, *wide))
    return results


def _finish(ctx: LoweringContext, i: DecodedInstruction, value: Value, kind: str) -> None:
    vector_type = f"<2 x {kind}>"
    zeros = Value(vector_type, "zeroinitializer")
    if i.has("SAT"):
        value = ctx.ir.call(vector_type, f"llvm.maxnum.{_suffix(kind)}", value, zeros)
        ones = Value(vector_type, f"<{kind} 1.0, {kind} 1.0>")
        value = ctx.ir.call(vector_type, f"llvm.minnum.{_suffix(kind)}", value, ones)
    if i.has("RELU"):  # NaN stays
        keeps = ctx.ir.fcmp("ugt", value, zeros)
        value = ctx.ir.result(vector_type, f"select {keeps}, {value}, {zeros}")
    if i.has("FTZ"):
        value = _flushed(ctx, value, kind)
    ctx.write(i.operands[0], ctx.ir.result("i32", f"bitcast {value} to i32"))


@lowers("HADD2{,.BF16_V2}{,.FTZ}{,.SAT}")
def add(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Sums of both pairs; denormal results are flushed after rounding."""
    kind = element_type(i)
    if (narrowed := _narrowed(ctx, i)) is not None:
        _finish(ctx, i, narrowed, kind)
        return
    left, right = _two_sources(ctx, i, i.operands[1:], kind)
    _finish(ctx, i, ctx.ir.op("fadd", left, right), kind)


def _narrowed(ctx: LoweringContext, i: DecodedInstruction) -> Value | None:
    """A single-precision operand plus -0: twice the number in half precision, rounded to zero.

    On sm_75 ``cvt.rz.f16.f32`` is that, and what it is without .SAT is both halves. None where no
    operand is of single precision; what such an operand and another number give is not known.
    """
    operands = [o for o in i.operands[1:] if isinstance(o, Register | Constant)]
    single = [o for o in operands if "F32" in o.suffixes]
    if not single:
        return None
    zeros = [o for o in operands if isinstance(o, Register) and o.is_zero and o.negated]
    if len(single) != 1 or len(zeros) != 1 or i.has("BF16_V2") or i.has("FTZ"):
        raise i.unknown("a sum with a single-precision number")
    word = cut_to_half(ctx, ctx.float32(replace(single[0], suffixes=())), bfloat=False)
    both = ctx.ir.op("or", ctx.ir.op("shl", word, i32(16)), word)
    return ctx.ir.result("<2 x half>", f"bitcast {both} to <2 x half>")


@lowers("HADD2.F32{,.SAT}")
def widen(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The selected halves added in single precision: ptxas converts so, with -RZ."""
    left, right = _two_sources(ctx, i, i.operands[1:], "half")
    wide = [
        ctx.ir.cast("fpext", ctx.ir.element(value, 0, "half"), "float") for value in (left, right)
    ]
    ctx.write(i.operands[0], saturated(ctx, i, ctx.ir.op("fadd", *wide)))


@lowers("HMUL2{,.FTZ}{,.SAT}", "HMUL2.BF16_V2{,.SAT}")
def multiply(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Products of both pairs; with .FTZ those that are denormal before rounding become zero."""
    kind = element_type(i)
    left, right = _two_sources(ctx, i, i.operands[1:], kind)
    value = ctx.ir.op("fmul", left, right)
    if i.has("FTZ"):
        value = _flushed_exact(ctx, value, _in_double(ctx, [left, right], "fmul"))
    _finish(ctx, i, value, kind)


@lowers("HFMA2{,.MMA}{,.FTZ}{,.RELU}{,.SAT}", "HFMA2{,.MMA}.BF16_V2{,.RELU}{,.SAT}")
def fused_multiply_add(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Products plus addends, rounded once; with zeros ptxas loads constants so."""
    kind = element_type(i)
    first, second = i.operands[1:3].exactly(2)
    is_constant = (
        isinstance(first, Register)
        and isinstance(second, Register)
        and first.is_zero
        and second.is_zero
        and isinstance(i.operands[3], Immediate)
    )
    if is_constant and not any(i.has(m) for m in ("SAT", "RELU", "FTZ")):
        word = [half_bits(o, kind) for o in i.operands[3:5] if isinstance(o, Immediate)]
        # -0 * 0 + x is x, and 0 where x is -0 and the product +0.
        if len(word) == 2 and 0x8000 not in word:
            ctx.write(i.operands[0], i32(word[0] << 16 | word[1]))
            return
    operands = sources(ctx, i, i.operands[1:], kind)
    if len(operands) != 3:
        raise i.unknown("more than three operands")
    if kind == "bfloat":
        halves = [_bfloat_fma(ctx, operands, number) for number in range(2)]
        value = ctx.ir.vector(halves)
    else:
        value = ctx.ir.call("<2 x half>", "llvm.fma.v2f16", *operands)
        if i.has("FTZ"):
            value = _flushed_exact(ctx, value, _in_double(ctx, operands, "fma"))
    _finish(ctx, i, value, kind)


def _bfloat_fma(ctx: LoweringContext, operands: list[Value], number: int) -> Value:
    """One fused operation on bfloat: in double precision, rounded to odd and then once more.

    The product is exact; the sum's error (Knuth's two-sum) says where it was cut off.
    """
    a, b, c = (
        ctx.ir.cast("fpext", ctx.ir.element(o, number, "bfloat"), "double") for o in operands
    )
    product = ctx.ir.op("fmul", a, b)
    total = ctx.ir.op("fadd", product, c)
    part = ctx.ir.op("fsub", total, product)
    lost = ctx.ir.op(
        "fadd",
        ctx.ir.op("fsub", product, ctx.ir.op("fsub", total, part)),
        ctx.ir.op("fsub", c, part),
    )
    bits = ctx.ir.cast("bitcast", total, "i64")
    zero = Value("double", "0.0")
    is_even = ctx.ir.icmp("eq", ctx.ir.op("and", bits, i64(1)), i64(0))
    adjusts = ctx.ir.both(is_even, ctx.ir.fcmp("one", lost, zero))
    same_sign = ctx.ir.icmp(
        "sge", ctx.ir.op("xor", ctx.ir.cast("bitcast", lost, "i64"), bits), i64(0)
    )
    moved = ctx.select(same_sign, ctx.ir.op("add", bits, i64(1)), ctx.ir.op("sub", bits, i64(1)))
    odd = ctx.ir.cast("bitcast", ctx.select(adjusts, moved, bits), "double")
    return ctx.ir.cast("fptrunc", odd, "bfloat")


@lowers("HMNMX2{,.BF16_V2}{,.FTZ}{,.NAN}{,.XORSIGN}")
def minimum_or_maximum(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Minima or maxima; with .NAN one of NaN, with .XORSIGN with both signs combined."""
    kind = element_type(i)
    condition = ctx.predicate(i.operands[-1])
    left, right = _two_sources(ctx, i, i.operands[1:-1], kind)
    if condition not in (TRUE, FALSE):
        raise i.unknown("a choice of minimum or maximum at run time")
    name = "minnum" if condition == TRUE else "maxnum"
    value = ctx.ir.call(f"<2 x {kind}>", f"llvm.{name}.{_suffix(kind)}", left, right)
    if i.has("XORSIGN"):
        value = _with_signs(ctx, i, value, kind)
    if i.has("NAN"):
        nan = ctx.ir.result(value.type, f"bitcast {i32(0x7FFF7FFF)} to {value.type}")
        value = ctx.ir.result(
            value.type, f"select {ctx.ir.fcmp('uno', left, right)}, {nan}, {value}"
        )
    _finish(ctx, i, value, kind)


def _with_signs(ctx: LoweringContext, i: DecodedInstruction, value: Value, kind: str) -> Value:
    """``value`` with the exclusive or of the signs that the operands have in their registers."""
    plain = [replace(o, absolute=False) for o in i.operands[1:-1] if isinstance(o, Register)]
    if len(plain) != 2:
        raise i.unknown("an operand that is no register")
    words = [ctx.ir.result("i32", f"bitcast {_vector(ctx, o, kind)} to i32") for o in plain]
    signs = ctx.ir.op("and", ctx.ir.op("xor", *words), i32(0x80008000))
    magnitude = ctx.ir.op("and", ctx.ir.result("i32", f"bitcast {value} to i32"), i32(0x7FFF7FFF))
    return ctx.ir.result(value.type, f"bitcast {ctx.ir.op('or', magnitude, signs)} to {value.type}")


@lowers(f"HSETP2{{,.BF16_V2}}.{CONDITIONS}{{,.FTZ}}.{{AND,OR,XOR}}")
def compare_to_predicates(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Compare both pairs, one predicate each."""
    kind = element_type(i)
    left, right = _two_sources(ctx, i, i.operands[2:-1], kind)
    name = next(CONDITION_NAMES[m] for m in i.modifiers if m in CONDITION_NAMES)
    result = ctx.ir.fcmp(name, left, right)
    other = ctx.predicate(i.operands[-1])
    for number in range(2):
        value = ctx.ir.element(result, number, "i1")
        ctx.write_predicate(i.operands[number], join(ctx, i, value, other))


@lowers(f"HSET2{{,.BF16_V2}}{{,.BF,.BM}}.{CONDITIONS}{{,.FTZ}}.{{AND,OR,XOR}}")
@lowers(f"HSET2.{{BF,BM}}.BF16_V2.{CONDITIONS}.{{AND,OR,XOR}}")
def compare_to_register(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Compare both pairs: 1.0 or 0.0 with .BF, else all ones or zero."""
    kind = element_type(i)
    left, right = _two_sources(ctx, i, i.operands[1:-1], kind)
    name = next(CONDITION_NAMES[m] for m in i.modifiers if m in CONDITION_NAMES)
    result = ctx.ir.fcmp(name, left, right)
    other = ctx.predicate(i.operands[-1])
    yes = 0xFFFF if not i.has("BF") else 0x3F80 if kind == "bfloat" else 0x3C00
    word = i32(0)
    for number in range(2):
        value = join(ctx, i, ctx.ir.element(result, number, "i1"), other)
        word = ctx.ir.op("or", word, ctx.select(value, i32(yes << 16 * number), i32(0)))
    ctx.write(i.operands[0], word)
