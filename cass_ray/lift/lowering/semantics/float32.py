"""Single-precision arithmetic. Rounding other than to nearest switches the mode for one operation.

Nvidia's .FTZ flushes denormal operands and results to zeros of their sign. Where a whole kernel
does, the kernel's mode does it; else the mode is switched around the instruction.
"""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import Instruction
from cass_ray.lift.frontend.operands import Operand, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, float_bits, i32
from cass_ray.lift.lowering.context import Thread
from cass_ray.lift.lowering.semantics.predicate import join, write_pair
from cass_ray.lift.lowering.table import lowers

_ROUNDING = {"RP": 1, "RM": 2, "RZ": 3}
"""MODE.round of gfx11: to nearest even, up, down, to zero."""

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
_FTZ_MODE, _IEEE_MODE = 0xC, 0xF  # MODE.denorm: single precision flushed, or nothing


def in_mode(
    t: Thread,
    text: str,
    kind: str,
    operands: list[Value],
    *,
    rounding: int = 0,
    flush: bool = False,
) -> Value:
    """One instruction with the rounding and denormal mode that it asks for.

    ``text`` is the RDNA3 mnemonic; ``rounding`` is the value of MODE.round, already in place.
    """
    before = [f"s_round_mode 0x{rounding:x}"] if rounding else []
    after = ["s_round_mode 0x0"] if rounding else []
    if flush:
        before.append(f"s_denorm_mode 0x{_FTZ_MODE:x}")
        after.append(f"s_denorm_mode 0x{_IEEE_MODE:x}")
    places = ", ".join(f"${number}" for number in range(len(operands) + 1))
    lines = "\\0A\\09".join([*before, f"{text} {places}", *after])
    # Early clobber is not needed: one instruction reads all operands before it writes.
    constraints = ",".join(["=v", *("v" for _ in operands)])
    return t.asm(kind, lines, constraints, *operands)


def rounding_of(i: Instruction) -> int:
    """MODE.round for single precision."""
    return _ROUNDING.get(i.one_of("RP", "RM", "RZ"), 0)


def saturated(t: Thread, i: Instruction, value: Value) -> Value:
    """Clamped to [0, 1] with .SAT; NaN becomes 0."""
    if not i.has("SAT"):
        return value
    least = t.call("float", "llvm.maxnum.f32", value, float_bits(0))
    return t.call("float", "llvm.minnum.f32", least, float_bits(0x3F800000))


def arithmetic(t: Thread, i: Instruction, plain: str, text: str, operands: list[Value]) -> Value:
    """``plain`` (an IR opcode, or an intrinsic) or, in another mode, the instruction ``text``."""
    rounding, flush = rounding_of(i), t.must_flush(i)
    if rounding or flush:
        return in_mode(t, text, "float", operands, rounding=rounding, flush=flush)
    if plain.startswith("llvm."):
        return t.call("float", plain, *operands)
    return t.op(plain, *operands)


_MODES = "{,.FTZ}{,.RM,.RP,.RZ}{,.SAT}"


@lowers(f"FADD{_MODES}", f"FADD32I{_MODES}")
def add(t: Thread, i: Instruction) -> None:
    """Sum."""
    operands = [t.float32(operand) for operand in i.operands[1:3]]
    if i.has("FTZ") and any(_is_zero(operand) for operand in i.operands[1:3]):
        # LLVM drops the addition of zero, and with it the flush.
        operands = [flush(t, operand) for operand in operands]
    value = arithmetic(t, i, "fadd", "v_add_f32", operands)
    t.write(i.operands[0], saturated(t, i, value))


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.is_zero


@lowers(
    f"FMUL{{,.D2,.D4,.D8,.M2,.M4,.M8}}{_MODES}",
    f"FMUL{_MODES}.{{D2,D4,D8,M2,M4,M8}}",
    repeats=True,
)
@lowers(f"FMUL32I{_MODES}")
def multiply(t: Thread, i: Instruction) -> None:
    """Product, divided or multiplied by a power of two."""
    operands = [t.float32(operand) for operand in i.operands[1:3]]
    scale = i.one_of("D2", "D4", "D8", "M2", "M4", "M8")
    if scale:
        exponent = {"2": 1, "4": 2, "8": 3}[scale[1]] * (-1 if scale[0] == "D" else 1)
        # The scale applies before rounding, to the first operand's exponent.
        factor = float_bits(127 + exponent << 23)
        operands[0] = t.op("fmul", operands[0], factor)
    t.write(i.operands[0], saturated(t, i, arithmetic(t, i, "fmul", "v_mul_f32", operands)))


@lowers(f"FFMA{_MODES}", f"FFMA32I{_MODES}")
def fused_multiply_add(t: Thread, i: Instruction) -> None:
    """Product plus addend, rounded once."""
    operands = [t.float32(operand) for operand in i.operands[1:4]]
    value = arithmetic(t, i, "llvm.fma.f32", "v_fma_f32", operands)
    t.write(i.operands[0], saturated(t, i, value))


@lowers("FMNMX{,.FTZ}{,.NAN}{,.XORSIGN}")
def minimum_or_maximum(t: Thread, i: Instruction) -> None:
    """Minimum or maximum by a predicate; of a number and NaN the number, but NaN with .NAN.

    With .XORSIGN the result gets the exclusive or of the operands' signs, before their magnitude
    is taken.
    """
    target, first, second, least = i.operands
    left, right = t.float32(first), t.float32(second)
    if i.has("FTZ"):  # also where the mode flushes: whether it does so here is not documented
        left, right = flush(t, left), flush(t, right)
    condition = t.predicate(least)

    def chosen(which: str) -> Value:
        return t.call("float", f"llvm.{which}.f32", left, right)

    if condition in (TRUE, FALSE):
        value = chosen("minnum" if condition == TRUE else "maxnum")
    else:
        value = t.select(condition, chosen("minnum"), chosen("maxnum"))
    if i.has("XORSIGN"):
        signs = t.op("xor", t.bits(first), t.bits(second))
        value = t.call("float", "llvm.copysign.f32", value, t.cast("bitcast", signs, "float"))
    if i.has("NAN"):
        value = t.select(t.fcmp("uno", left, right), _NAN, value)
    t.write(target, value)


def compare(t: Thread, i: Instruction, left: Value, right: Value) -> Value:
    """The comparison that the modifiers name, of scalars."""
    name = next(m for m in i.modifiers if m in CONDITION_NAMES)
    if name in ("T", "F"):
        return TRUE if name == "T" else FALSE
    return t.fcmp(CONDITION_NAMES[name], left, right)


def flushed(t: Thread, i: Instruction, operand: Operand) -> Value:
    """An operand, a denormal one made zero with .FTZ."""
    value = t.float32(operand)
    return flush(t, value) if t.must_flush(i) else value


def flush(t: Thread, value: Value) -> Value:
    """``value``, or zero of its sign where it is denormal."""
    magnitude = t.call("float", "llvm.fabs.f32", value)
    is_small = t.fcmp("olt", magnitude, float_bits(0x00800000))
    zero = t.call("float", "llvm.copysign.f32", float_bits(0), value)
    return t.select(is_small, zero, value)


@lowers(f"FSETP.{CONDITIONS}{{,.FTZ}}.{{AND,OR,XOR}}")
def compare_to_predicate(t: Thread, i: Instruction) -> None:
    """Compare two numbers."""
    left, right = (flushed(t, i, operand) for operand in i.operands[2:4])
    write_pair(t, i, compare(t, i, left, right), t.predicate(i.operands[4]))


@lowers(f"FSET{{,.BF}}.{CONDITIONS}{{,.FTZ}}.{{AND,OR,XOR}}")
def compare_to_register(t: Thread, i: Instruction) -> None:
    """Compare two numbers; all ones or zero, with .BF 1.0 or 0.0."""
    left, right = (flushed(t, i, operand) for operand in i.operands[1:3])
    result = join(t, i, compare(t, i, left, right), t.predicate(i.operands[3]))
    yes = i32(0x3F800000) if i.has("BF") else i32(-1)
    t.write(i.operands[0], t.select(result, yes, i32(0)))


@lowers("FSEL{,.FTZ}")
def select(t: Thread, i: Instruction) -> None:
    """One of two numbers, chosen by a predicate."""
    target, yes, no, condition = i.operands
    values = [flushed(t, i, operand) for operand in (yes, no)]
    words = [t.cast("bitcast", value, "i32") for value in values]
    t.write(target, t.select(t.predicate(condition), *words))


@lowers("FCHK{,.DIVIDE}")
def division_needs_care(t: Thread, i: Instruction) -> None:
    """Whether dividing these numbers needs the slow path; saying so too often does no harm."""
    target, *operands = i.operands
    sizes = [t.call("float", "llvm.fabs.f32", t.float32(operand)) for operand in operands]
    least = t.call("float", "llvm.minnum.f32", *sizes)
    most = t.call("float", "llvm.maxnum.f32", *sizes)
    safe = t.both(t.fcmp("oge", least, _SAFE_LEAST), t.fcmp("ole", most, _SAFE_MOST))
    t.write_predicate(target, t.invert(safe))
