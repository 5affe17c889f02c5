"""Single-precision arithmetic. Rounding other than to nearest switches the mode for one operation.

Nvidia's .FTZ flushes denormal operands and results to zeros of their sign. Where a whole kernel
does, the kernel's mode does it; else the mode is switched around the instruction.
"""

from __future__ import annotations

from cass_ray.assembly.wave_mode import (
    DENORMALS_FLUSHED_IN_SINGLE,
    DENORMALS_KEPT,
    Rounding,
    set_denormals,
    set_rounding,
)
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Operand, Operands
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, float_bits, i32
from cass_ray.lift.lowering import float_constants
from cass_ray.lift.lowering.context import LoweringContext, float32_bits
from cass_ray.lift.lowering.semantics.predicate import join, write_pair
from cass_ray.lift.lowering.table import lowers

_ROUNDING = {"RP": Rounding.UP, "RM": Rounding.DOWN, "RZ": Rounding.TO_ZERO}

TF32_LOST_BITS = 13
"""Bits of a single-precision fraction that TF32 does not have: it keeps 10 (PTX ISA, 5.2.3)."""

CONDITION_NAMES = {
    "EQ": "oeq",
    "NE": "one",
    "LT": "olt",
    "LE": "ole",
    "GT": "ogt",
    "GE": "oge",
    "EQU": "ueq",
    "NEU": "une",
    "LTU": "ult",
    "LEU": "ule",
    "GTU": "ugt",
    "GEU": "uge",
    "NUM": "ord",
    "NAN": "uno",
    "T": "true",
    "F": "false",
}
CONDITIONS = "{" + ",".join(CONDITION_NAMES) + "}"
"""A pattern of :func:`lowers`."""

_NAN = float_bits(0x7FFFFFFF)
_SAFE_LEAST, _SAFE_MOST = float_bits(0x21800000), float_bits(0x5D800000)  # 2^-60, 2^60


def in_mode(
    ctx: LoweringContext,
    text: str,
    kind: str,
    operands: list[Value],
    *,
    rounding: int = 0,
    flush: bool = False,
) -> Value:
    """One instruction with the rounding and denormal mode that it asks for.

    ``text`` is AMD's mnemonic; ``rounding`` is an operand of ``s_round_mode``.
    """
    in_parts = ctx.environment.target.sets_mode_in_parts
    before, after = [], []
    if rounding:
        before.append(set_rounding(rounding, in_parts=in_parts))
        after.append(set_rounding(0, in_parts=in_parts))
    if flush:
        before.append(set_denormals(DENORMALS_FLUSHED_IN_SINGLE, in_parts=in_parts))
        after.append(set_denormals(DENORMALS_KEPT, in_parts=in_parts))
    places = ", ".join(f"${number}" for number in range(len(operands) + 1))
    lines = "\\0A\\09".join([*before, f"{text} {places}", *after])
    # Early clobber is not needed: one instruction reads all operands before it writes.
    constraints = ",".join(["=v", *("v" for _ in operands)])
    return ctx.ir.asm(kind, lines, constraints, *operands)


def rounding_of(i: DecodedInstruction) -> Rounding:
    """The direction that the modifiers name; to nearest even without one."""
    return _ROUNDING.get(i.one_of("RP", "RM", "RZ"), Rounding.NEAREST_EVEN)


def saturated(ctx: LoweringContext, i: DecodedInstruction, value: Value) -> Value:
    """Clamped to [0, 1] with .SAT; NaN becomes 0."""
    if not i.has("SAT"):
        return value
    bits = value.single_bits
    if bits is not None and (clamped := float_constants.saturated(bits)) is not None:
        return float_bits(clamped)
    least = ctx.ir.call("float", "llvm.maxnum.f32", value, float_bits(0))
    return ctx.ir.call("float", "llvm.minnum.f32", least, float_bits(0x3F800000))


def arithmetic(
    ctx: LoweringContext, i: DecodedInstruction, plain: str, text: str, operands: list[Value]
) -> Value:
    """``plain`` (an IR opcode, or an intrinsic) or, in another mode, the instruction ``text``.

    The kernel's mode flushes its result where the operation stays. LLVM drops a sum with zero, a
    product with one, and folds constants; the flush is asked for on its own, which costs an
    instruction only there (:func:`flush`).
    """
    rounding, must_flush = rounding_of(i), ctx.must_flush(i)
    constants = [bits for each in operands if (bits := each.single_bits) is not None]
    if len(constants) == len(operands):
        result = float_constants.arithmetic(plain, constants, rounding)
        if result is not None:
            return float_bits(result)
    if rounding or must_flush:
        return in_mode(ctx, text, "float", operands, rounding=rounding, flush=must_flush)
    if plain.startswith("llvm."):
        value = ctx.ir.call("float", plain, *operands)
    else:
        value = ctx.ir.op(plain, *operands)
    return flush(ctx, value) if i.has("FTZ") else value


_MODES = "{,.FTZ}{,.RM,.RP,.RZ}{,.SAT}"


@lowers(f"{{,U}}FADD{_MODES}", f"FADD32I{_MODES}")
def add(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Sum in single precision, rounded and flushed as the modifiers say."""
    operands = [ctx.float32(operand) for operand in i.operands[1:3].exactly(2)]
    value = arithmetic(ctx, i, "fadd", "v_add_f32", operands)
    ctx.write(i.operands[0], saturated(ctx, i, value))


@lowers(
    f"{{,U}}FMUL{{,.D2,.D4,.D8,.M2,.M4,.M8}}{_MODES}",
    f"{{,U}}FMUL{_MODES}.{{D2,D4,D8,M2,M4,M8}}",
    repeats=True,
)
@lowers(f"FMUL32I{_MODES}")
def multiply(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Product, divided or multiplied by a power of two."""
    operands = [ctx.float32(operand) for operand in i.operands[1:3].exactly(2)]
    scale = i.one_of("D2", "D4", "D8", "M2", "M4", "M8")
    if scale:
        exponent = {"2": 1, "4": 2, "8": 3}[scale[1]] * (-1 if scale[0] == "D" else 1)
        # The scale applies before rounding, to the first operand's exponent.
        factor = float_bits(127 + exponent << 23)
        operands[0] = ctx.ir.op("fmul", operands[0], factor)
    ctx.write(i.operands[0], saturated(ctx, i, arithmetic(ctx, i, "fmul", "v_mul_f32", operands)))


@lowers(f"{{,U}}FFMA{_MODES}", f"FFMA32I{_MODES}")
def fused_multiply_add(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Product plus addend, rounded once.

    LLVM folds it of three constants as IEEE 754 has it, without a flush of its operands.
    """
    operands = [
        flushed(ctx, i, operand) if _is_denormal(ctx, operand) else ctx.float32(operand)
        for operand in i.operands[1:4].exactly(3)
    ]
    value = arithmetic(ctx, i, "llvm.fma.f32", "v_fma_f32", operands)
    ctx.write(i.operands[0], saturated(ctx, i, value))


def _is_denormal(ctx: LoweringContext, operand: Operand) -> bool:
    """Whether the operand is known here, and denormal."""
    if isinstance(operand, Immediate):
        word: int | None = float32_bits(operand)
    else:
        word = ctx.bits(operand).number
    return word is not None and 0 < word & 0x7FFFFFFF < 0x00800000


@lowers("{,U}FMNMX{,.FTZ}{,.NAN}{,.XORSIGN}")
def minimum_or_maximum(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Minimum or maximum by a predicate; of a number and NaN the number, but NaN with .NAN.

    With .XORSIGN the result gets the exclusive or of the operands' signs, before their magnitude
    is taken.
    """
    target, first, second, least = i.operands.exactly(4)
    left, right = ctx.float32(first), ctx.float32(second)
    value = _extreme(ctx, i, left, right, ctx.predicate(least))
    if i.has("XORSIGN"):
        signs = ctx.ir.op("xor", ctx.bits(first), ctx.bits(second))
        sign = ctx.ir.cast("bitcast", signs, "float")
        value = ctx.ir.call("float", "llvm.copysign.f32", value, sign)
    ctx.write(target, _unless_nan(ctx, i, value, left, right))


@lowers("FMNMX3{,.FTZ}{,.NAN}")
def minimum_or_maximum_of_three(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """That of two, and of the result and a third: ptxas makes it of two instructions of PTX."""
    target, first, second, third, least = i.operands.exactly(5)
    condition, value = ctx.predicate(least), ctx.float32(first)
    for operand in (second, third):
        left, right = value, ctx.float32(operand)
        value = _unless_nan(ctx, i, _extreme(ctx, i, left, right, condition), left, right)
    ctx.write(target, value)


def _extreme(
    ctx: LoweringContext, i: DecodedInstruction, left: Value, right: Value, least: Value
) -> Value:
    """The less of two numbers where ``least`` holds, else the greater one."""
    if i.has("FTZ"):  # also where the mode flushes: LLVM drops minima of a number and itself
        left, right = flush(ctx, left), flush(ctx, right)

    def chosen(which: str) -> Value:
        return ctx.ir.call("float", f"llvm.{which}.f32", left, right)

    if least in (TRUE, FALSE):
        return chosen("minnum" if least == TRUE else "maxnum")
    return ctx.select(least, chosen("minnum"), chosen("maxnum"))


def _unless_nan(
    ctx: LoweringContext, i: DecodedInstruction, value: Value, left: Value, right: Value
) -> Value:
    """``value``; with .NAN, NaN where one of the numbers is."""
    return ctx.select(ctx.ir.fcmp("uno", left, right), _NAN, value) if i.has("NAN") else value


def compare(ctx: LoweringContext, i: DecodedInstruction, left: Value, right: Value) -> Value:
    """The comparison that the modifiers name, of scalars."""
    name = next(m for m in i.modifiers if m in CONDITION_NAMES)
    if name in ("T", "F"):
        return TRUE if name == "T" else FALSE
    return ctx.ir.fcmp(CONDITION_NAMES[name], left, right)


def flushed(ctx: LoweringContext, i: DecodedInstruction, operand: Operand) -> Value:
    """An operand, a denormal one made zero with .FTZ."""
    value = ctx.float32(operand)
    return flush(ctx, value) if i.has("FTZ") else value


def flush(ctx: LoweringContext, value: Value) -> Value:
    """``value``, or zero of its sign where it is denormal.

    Where the kernel's mode flushes, LLVM selects nothing for it if an instruction that flushes
    gives the number, and otherwise one (``isCanonicalized`` of its AMDGPU backend).
    """
    if ctx.environment.flushes_denormals:
        return ctx.ir.call("float", "llvm.canonicalize.f32", value)
    magnitude = ctx.ir.call("float", "llvm.fabs.f32", value)
    is_small = ctx.ir.fcmp("olt", magnitude, float_bits(0x00800000))
    zero = ctx.ir.call("float", "llvm.copysign.f32", float_bits(0), value)
    return ctx.select(is_small, zero, value)


def _compared(ctx: LoweringContext, i: DecodedInstruction, operands: Operands) -> list[Value]:
    """Two operands of a comparison, which itself flushes where the kernel's mode does.

    Not denormal constants: LLVM has them in the place of what is equal to them, which may be zero.
    """
    must_flush = ctx.must_flush(i)
    return [
        flushed(ctx, i, operand)
        if must_flush or _is_denormal(ctx, operand)
        else ctx.float32(operand)
        for operand in operands.exactly(2)
    ]


@lowers(f"{{,U}}FSETP.{CONDITIONS}{{,.FTZ}}.{{AND,OR,XOR}}")
def compare_to_predicate(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Compare two numbers; the second predicate gets the opposite result."""
    left, right = _compared(ctx, i, i.operands[2:4])
    write_pair(ctx, i, compare(ctx, i, left, right), ctx.predicate(i.operands[4]))


@lowers(f"{{,U}}FSET{{,.BF}}.{CONDITIONS}{{,.FTZ}}.{{AND,OR,XOR}}")
def compare_to_register(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Compare two numbers; all ones or zero, with .BF 1.0 or 0.0."""
    left, right = _compared(ctx, i, i.operands[1:3])
    result = join(ctx, i, compare(ctx, i, left, right), ctx.predicate(i.operands[3]))
    yes = i32(0x3F800000) if i.has("BF") else i32(-1)
    ctx.write(i.operands[0], ctx.select(result, yes, i32(0)))


@lowers("{,U}FSEL{,.FTZ}")
def select(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """One of two numbers, chosen by a predicate."""
    target, yes, no, condition = i.operands.exactly(4)
    if any(isinstance(each, Immediate) and "NAN" in each.text for each in (yes, no)):
        raise i.unknown("copies the bits of a NaN that a listing does not tell")
    values = [flushed(ctx, i, operand) for operand in (yes, no)]
    words = [ctx.ir.cast("bitcast", value, "i32") for value in values]
    ctx.write(target, ctx.select(ctx.predicate(condition), *words))


@lowers("FCHK{,.DIVIDE}")
def division_needs_care(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Whether dividing these numbers needs the slow path; saying so too often does no harm."""
    target, operands = i.operands[0], i.operands[1:].exactly(2)
    sizes = [ctx.ir.call("float", "llvm.fabs.f32", ctx.float32(operand)) for operand in operands]
    least = ctx.ir.call("float", "llvm.minnum.f32", *sizes)
    most = ctx.ir.call("float", "llvm.maxnum.f32", *sizes)
    safe = ctx.ir.both(ctx.ir.fcmp("oge", least, _SAFE_LEAST), ctx.ir.fcmp("ole", most, _SAFE_MOST))
    ctx.write_predicate(target, ctx.ir.invert(safe))
