"""Divisions, reciprocals and square roots of IEEE 754, where SASS has them in two ways.

LLVM's are rounded to nearest, too, of denormal numbers as well, but for one: a quotient of doubles
that lies exactly halfway between two denormal numbers. AMD's last step multiplies, adds and scales
with one rounding; LLVM gives it a quotient that may be off by a place, and what corrects that is
not exact. Here it gets the quotient that is rounded already: nothing is left to correct where that
is exact, and else the sign of what is left is right.

There is no slow path: AMD's instructions scale what needs it, and set right what is not finite.
"""

from __future__ import annotations

from cass_ray.lift.analysis.ieee_idioms import RecognizedOperation
from cass_ray.lift.frontend.operands import Operand
from cass_ray.lift.llvm.builder import FALSE, TRUE, IRBuilder, Value, double_bits, float_bits
from cass_ray.lift.lowering.context import LoweringContext

_ONE = {"f32": float_bits(0x3F800000), "f64": double_bits(0x3FF << 52)}


def write_operation(context: LoweringContext, operation: RecognizedOperation) -> None:
    """Set the registers of the result."""
    name, kind = operation.name.split(".")
    operands = [_number(context, words) for words in operation.sources]
    if name == "root":
        result = context.ir.call(operands[0].type, f"llvm.sqrt.{kind}", *operands)
    elif name == "reciprocal":
        result = context.ir.op("fdiv", _ONE[kind], *operands)
    elif kind == "f64":
        result = _quotient(context.ir, *operands)
    else:
        result = context.ir.op("fdiv", *operands)
    if kind == "f32":
        context.write(operation.results[0], result)
        return
    words = context.ir.cast("bitcast", result, "i64")
    context.write(operation.results[0], context.ir.low(words))
    context.write(operation.results[1], context.ir.high(words))


def _number(context: LoweringContext, words: tuple[Operand, ...]) -> Value:
    if len(words) == 1:
        return context.float32(words[0])
    return context.ir.double_of(*(context.bits(word) for word in words))


def _quotient(ir: IRBuilder, dividend: Value, divisor: Value) -> Value:
    """LLVM's steps (``LowerFDIV64``), and one more before the last."""

    def fma(*factors: Value) -> Value:
        return ir.call("double", "llvm.fma.f64", *factors)

    def scaled(is_dividend: Value) -> tuple[Value, Value]:
        operands = dividend, divisor, is_dividend
        pair = ir.call("{ double, i1 }", "llvm.amdgcn.div.scale.f64", *operands)
        number = ir.result("double", f"extractvalue {pair}, 0")
        return number, ir.result("i1", f"extractvalue {pair}, 1")

    below, _ = scaled(FALSE)
    above, is_scaled = scaled(TRUE)
    negative = ir.fneg(below)
    inverse = ir.call("double", "llvm.amdgcn.rcp.f64", below)
    for _ in range(2):
        inverse = fma(inverse, fma(negative, inverse, _ONE["f64"]), inverse)
    quotient = ir.op("fmul", above, inverse)
    quotient = fma(fma(negative, quotient, above), inverse, quotient)
    left = fma(negative, quotient, above)
    name = "llvm.amdgcn.div.fmas.f64"
    rounded = ir.call("double", name, left, inverse, quotient, is_scaled)
    return ir.call("double", "llvm.amdgcn.div.fixup.f64", rounded, divisor, dividend)
