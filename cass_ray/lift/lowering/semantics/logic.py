"""Three-input logic by truth table, and byte permutation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Operand, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i8, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.semantics.integer import leading_predicates
from cass_ray.lift.lowering.table import lowers

_A, _B, _C = 0xF0, 0xCC, 0xAA
"""Truth tables of the inputs: bit 4a + 2b + c of a table is the result for a, b, c."""

Expression = tuple[str, int, int]
"""An operation and the tables of its operands; ``not`` has one, ``input`` none."""


@cache
def cheapest_expressions() -> dict[int, Expression]:
    """Find for each truth table a way to compute it with the fewest operations."""
    best: dict[int, Expression] = dict.fromkeys((_A, _B, _C, 0x00, 0xFF), ("input", 0, 0))
    by_cost: list[list[int]] = [list(best)]
    while len(best) < 256:
        cost = len(by_cost)
        expressions: dict[int, Expression] = {}
        for table in by_cost[cost - 1]:
            expressions.setdefault(table ^ 0xFF, ("not", table, 0))
        for left_cost in range(cost):
            for left, right in product(by_cost[left_cost], by_cost[cost - 1 - left_cost]):
                for name, table in (
                    ("and", left & right),
                    ("or", left | right),
                    ("xor", left ^ right),
                ):
                    expressions.setdefault(table, (name, left, right))
        new = {table: way for table, way in expressions.items() if table not in best}
        best.update(new)
        by_cost.append(list(new))
    return best


def by_truth_table(ctx: LoweringContext, table: int, inputs: tuple[Value, Value, Value]) -> Value:
    """The function ``table`` of three words or three predicates."""
    is_predicate = inputs[0].type == "i1"
    values = dict(zip((_A, _B, _C), inputs, strict=True))
    values[0x00] = FALSE if is_predicate else i32(0)
    values[0xFF] = TRUE if is_predicate else i32(-1)
    return _of_table(ctx, table, values)


def _of_table(ctx: LoweringContext, table: int, values: dict[int, Value]) -> Value:
    """The value whose truth table is ``table``, of ``values``, to which it is added.

    No function of the one above: that would be a cycle, and keep all of a lifting as garbage.
    """
    if table not in values:
        name, left, right = cheapest_expressions()[table]
        first = _of_table(ctx, left, values)
        if name == "not":
            values[table] = ctx.ir.invert(first)
        elif first.type == "i1":
            values[table] = _predicate_operation(ctx, name, first, _of_table(ctx, right, values))
        else:
            values[table] = ctx.ir.op(name, first, _of_table(ctx, right, values))
    return values[table]


def _predicate_operation(ctx: LoweringContext, name: str, left: Value, right: Value) -> Value:
    if name == "and":
        return ctx.ir.both(left, right)
    if name == "or":
        return ctx.ir.either(left, right)
    return ctx.ir.exclusive(left, right)


def restricted(table: int, inputs: tuple[Value, Value, Value]) -> int:
    """``table`` for the inputs that are constant now: it no longer depends on them."""
    for mask, value in zip((_A, _B, _C), inputs, strict=True):
        step = {_A: 4, _B: 2, _C: 1}[mask]
        if value in (TRUE, i32(-1)):
            within = table & mask
            table = within | within >> step
        elif value in (FALSE, i32(0)):
            within = table & ~mask
            table = within | within << step
    return table & 0xFF


def _truth_table(i: DecodedInstruction, operand: Operand) -> int:
    if not isinstance(operand, Immediate):
        raise i.unknown("a truth table that is no literal")
    return operand.integer


@lowers("{,U}LOP3{.LUT,.LUT.PAND}")
def logic3(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Any function of three words; a leading predicate says whether the result is not zero."""
    predicates, rest = leading_predicates(i.operands)
    target, table = rest[0], _truth_table(i, rest[4])
    inputs = (ctx.integer(rest[1]), ctx.integer(rest[2]), ctx.integer(rest[3]))
    value = by_truth_table(ctx, restricted(table, inputs), inputs)
    ctx.write(target, value)
    if predicates:
        is_set = ctx.ir.icmp("ne", value, i32(0))
        other = ctx.predicate(rest[5]) if len(rest) > 5 else FALSE
        join = ctx.ir.both if i.has("PAND") else ctx.ir.either
        ctx.write_predicate(predicates[0], join(is_set, other))


@lowers("{,U}PLOP3.LUT")
def predicate_logic3(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Two functions of three predicates."""
    inputs = (_condition(ctx, i, 2), _condition(ctx, i, 3), _condition(ctx, i, 4))
    tables = [restricted(_truth_table(i, operand), inputs) for operand in i.operands[5:7]]
    values = [by_truth_table(ctx, table, inputs) for table in tables]
    for target, value in zip(i.operands, values, strict=False):
        ctx.write_predicate(target, value)


def _condition(ctx: LoweringContext, i: DecodedInstruction, place: int) -> Value:
    """A predicate, or the sign of a register (``R5.SIGN``)."""
    operand = i.operands[place]
    if isinstance(operand, Register) and operand.suffixes == ("SIGN",):
        return ctx.ir.icmp("slt", ctx.plain_integer(replace(operand, suffixes=())), i32(0))
    return ctx.predicate(operand)


_MODES = {
    "F4E": (0x3210, 0x4321, 0x5432, 0x6543),
    "B4E": (0x5670, 0x6701, 0x7012, 0x0123),
    "RC8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ECL": (0x3210, 0x3211, 0x3222, 0x3333),
    "ECR": (0x0000, 0x1110, 0x2210, 0x3210),
    "RC16": (0x1010, 0x3232, 0x1010, 0x3232),
}
"""Modes of PTX's prmt: the selectors that the low two bits of the operand stand for."""


@lowers("{,U}PRMT.{F4E,B4E,RC8,ECL,ECR,RC16}")
def permute_bytes_in_mode(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Four bytes picked out of eight by one of four patterns."""
    target, low, selector, high = i.operands.exactly(4)
    choices = [i32(word) for word in _MODES[i.modifiers[0]]]
    choice = ctx.integer(selector)
    odd = ctx.ir.icmp("ne", ctx.ir.op("and", choice, i32(1)), i32(0))
    upper = ctx.ir.icmp("ne", ctx.ir.op("and", choice, i32(2)), i32(0))
    pairs = [ctx.select(odd, choices[n + 1], choices[n]) for n in (0, 2)]
    picked = ctx.select(upper, pairs[1], pairs[0])
    ctx.write(target, _variable_permutation(ctx, ctx.integer(low), ctx.integer(high), picked))


@lowers("{,U}PRMT")
def permute_bytes(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Four bytes picked out of eight; bit 3 of a selector replicates the byte's sign."""
    target, low, selector, high = i.operands.exactly(4)
    first, second, picked = ctx.integer(low), ctx.integer(high), ctx.bits(selector)
    number = picked.number
    if number is None:
        ctx.write(target, _variable_permutation(ctx, first, second, picked))
        return
    result = i32(0)
    for place in range(4):
        choice = number >> 4 * place & 15
        word, byte = (second if choice & 4 else first), choice & 3
        if choice & 8:
            sign = ctx.ir.op("ashr", ctx.ir.op("shl", word, i32(24 - 8 * byte)), i32(31))
            part = ctx.ir.op("and", sign, i32(0xFF << 8 * place))
        else:
            distance = 8 * (place - byte)
            moved = (
                ctx.ir.op("shl", word, i32(distance))
                if distance >= 0
                else ctx.ir.op("lshr", word, i32(-distance))
            )
            part = ctx.ir.op("and", moved, i32(0xFF << 8 * place))
        result = ctx.ir.op("or", result, part)
    ctx.write(target, result)


def _variable_permutation(
    ctx: LoweringContext, first: Value, second: Value, picked: Value
) -> Value:
    pair = ctx.ir.pair(first, second)
    result = i32(0)
    for place in range(4):
        choice = ctx.ir.op("lshr", picked, i32(4 * place))
        distance = ctx.ir.op("shl", ctx.ir.op("and", choice, i32(7)), i32(3))
        moved = ctx.ir.op("lshr", pair, ctx.ir.cast("zext", distance, "i64"))
        byte = ctx.ir.cast("trunc", moved, "i8")
        replicates = ctx.ir.icmp("ne", ctx.ir.op("and", choice, i32(8)), i32(0))
        byte = ctx.select(replicates, ctx.ir.op("ashr", byte, i8(7)), byte)
        part = ctx.ir.op("shl", ctx.ir.cast("zext", byte, "i32"), i32(8 * place))
        result = ctx.ir.op("or", result, part)
    return result
