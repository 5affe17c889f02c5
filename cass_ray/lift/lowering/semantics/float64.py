"""Double-precision arithmetic."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import Instruction
from cass_ray.lift.llvm.builder import Value, i64
from cass_ray.lift.lowering.context import Thread
from cass_ray.lift.lowering.semantics.float32 import CONDITIONS, compare, in_mode, rounding_of
from cass_ray.lift.lowering.semantics.predicate import join, write_pair
from cass_ray.lift.lowering.table import lowers

_MODES = "{,.RM,.RP,.RZ}"


def _arithmetic(t: Thread, i: Instruction, plain: str, text: str, count: int) -> None:
    operands = [t.float64(operand) for operand in i.operands[1 : 1 + count]]
    rounding = rounding_of(i)
    if rounding:
        value = in_mode(t, text, "double", operands, rounding=rounding << 2)
    elif plain.startswith("llvm."):
        value = t.call("double", plain, *operands)
    else:
        value = t.op(plain, *operands)
    t.write_wide(i.operands[0], value)


@lowers(f"DADD{_MODES}")
def add(t: Thread, i: Instruction) -> None:
    """Sum."""
    _arithmetic(t, i, "fadd", "v_add_f64", 2)


@lowers(f"DMUL{_MODES}")
def multiply(t: Thread, i: Instruction) -> None:
    """Product."""
    _arithmetic(t, i, "fmul", "v_mul_f64", 2)


@lowers(f"DFMA{_MODES}")
def fused_multiply_add(t: Thread, i: Instruction) -> None:
    """Product plus addend, rounded once."""
    _arithmetic(t, i, "llvm.fma.f64", "v_fma_f64", 3)


@lowers(f"DSETP.{CONDITIONS}.{{AND,OR,XOR}}")
def compare_to_predicate(t: Thread, i: Instruction) -> None:
    """Compare two numbers."""
    left, right = (t.float64(operand) for operand in i.operands[2:4])
    write_pair(t, i, compare(t, i, left, right), t.predicate(i.operands[4]))


@lowers("DSETP.{MIN,MAX}.{AND,OR,XOR}")
def choose_extreme(t: Thread, i: Instruction) -> None:
    """Whether the first is the minimum or maximum, and whether both are NaN.

    ptxas follows it with selections: the first where the first result holds.
    """
    left, right = (t.float64(operand) for operand in i.operands[2:4])
    other = t.predicate(i.operands[4])
    beyond = t.fcmp("olt" if i.has("MIN") else "ogt", left, right)
    # Of two zeros the negative one is less.
    sign = t.icmp("slt", t.cast("bitcast", left, "i64"), i64(0))
    wanted = sign if i.has("MIN") else t.invert(sign)
    tied = t.both(t.fcmp("oeq", left, right), wanted)
    is_first = t.either(t.either(beyond, tied), t.fcmp("uno", right, right))
    neither = t.both(t.fcmp("uno", left, left), t.fcmp("uno", right, right))
    results: list[Value] = [join(t, i, is_first, other), join(t, i, neither, other)]
    for target, result in zip(i.operands, results, strict=False):
        t.write_predicate(target, result)
