"""Double-precision arithmetic."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.llvm.builder import Value, i64
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.semantics.float32 import CONDITIONS, compare, in_mode, rounding_of
from cass_ray.lift.lowering.semantics.predicate import join, write_pair
from cass_ray.lift.lowering.table import lowers

_MODES = "{,.RM,.RP,.RZ}"


def _arithmetic(
    ctx: LoweringContext, i: DecodedInstruction, plain: str, text: str, count: int
) -> None:
    operands = [ctx.float64(operand) for operand in i.operands[1 : 1 + count].exactly(count)]
    rounding = rounding_of(i)
    if rounding:
        value = in_mode(ctx, text, "double", operands, rounding=rounding.half_and_double)
    elif plain.startswith("llvm."):
        value = ctx.ir.call("double", plain, *operands)
    else:
        value = ctx.ir.op(plain, *operands)
    ctx.write_wide(i.operands[0], value)


@lowers(f"DADD{_MODES}")
def add(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Sum in double precision, rounded as the modifiers say."""
    _arithmetic(ctx, i, "fadd", "v_add_f64", 2)


@lowers(f"DMUL{_MODES}")
def multiply(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Product in double precision, rounded as the modifiers say."""
    _arithmetic(ctx, i, "fmul", "v_mul_f64", 2)


@lowers(f"DFMA{_MODES}")
def fused_multiply_add(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Product plus addend, rounded once."""
    _arithmetic(ctx, i, "llvm.fma.f64", "v_fma_f64", 3)


@lowers(f"DSETP.{CONDITIONS}.{{AND,OR,XOR}}")
def compare_to_predicate(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Compare two numbers; the second predicate gets the opposite result."""
    left, right = (ctx.float64(operand) for operand in i.operands[2:4].exactly(2))
    write_pair(ctx, i, compare(ctx, i, left, right), ctx.predicate(i.operands[4]))


@lowers("DSETP.{MIN,MAX}.{AND,OR,XOR}")
def choose_extreme(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Whether the first is the minimum or maximum, and whether both are NaN.

    ptxas follows it with selections: the first where the first result holds.
    """
    left, right = (ctx.float64(operand) for operand in i.operands[2:4].exactly(2))
    other = ctx.predicate(i.operands[4])
    beyond = ctx.ir.fcmp("olt" if i.has("MIN") else "ogt", left, right)
    # Of two zeros the negative one is less.
    sign = ctx.ir.icmp("slt", ctx.ir.cast("bitcast", left, "i64"), i64(0))
    takes_first = sign if i.has("MIN") else ctx.ir.invert(sign)
    tied = ctx.ir.both(ctx.ir.fcmp("oeq", left, right), takes_first)
    is_first = ctx.ir.either(ctx.ir.either(beyond, tied), ctx.ir.fcmp("uno", right, right))
    neither = ctx.ir.both(ctx.ir.fcmp("uno", left, left), ctx.ir.fcmp("uno", right, right))
    results: list[Value] = [join(ctx, i, is_first, other), join(ctx, i, neither, other)]
    for target, result in zip(i.operands, results, strict=False):
        ctx.write_predicate(target, result)
