"""Exchange between the lanes of a warp."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Operands, Predicate, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import ballot, from_first_lane, from_lane, from_uniform_lane, lane
from cass_ray.lift.lowering.table import lowers


@lowers("SHFL.{UP,DOWN,BFLY,IDX}", has_effect=True)
def shuffle(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A word of another lane of the same segment; the predicate says whether there is one."""
    in_range, target, source, distance, limits = i.operands.exactly(5)
    own = lane(ctx)
    word, step, clamp = ctx.integer(source), ctx.integer(distance), ctx.integer(limits)
    segment = ctx.ir.op("and", ctx.ir.op("lshr", clamp, i32(8)), i32(31))
    inside = ctx.ir.op("xor", segment, i32(31))
    first = ctx.ir.op("and", own, segment)
    last = ctx.ir.op("or", first, ctx.ir.op("and", ctx.ir.op("and", clamp, i32(31)), inside))
    step = ctx.ir.op("and", step, i32(31))
    if i.has("UP"):
        chosen = ctx.ir.op("sub", own, step)
        valid = ctx.ir.icmp("sge", chosen, last)
    elif i.has("DOWN"):
        chosen = ctx.ir.op("add", own, step)
        valid = ctx.ir.icmp("sle", chosen, last)
    elif i.has("BFLY"):
        chosen = ctx.ir.op("xor", own, step)
        valid = TRUE if last.number == 31 else ctx.ir.icmp("sle", chosen, last)
    else:
        chosen = ctx.ir.op("or", first, ctx.ir.op("and", step, inside))
        valid = TRUE if last.number == 31 else ctx.ir.icmp("sle", chosen, last)
    chosen = ctx.select(valid, chosen, own)
    ctx.write(target, from_lane(ctx, word, chosen))
    ctx.write_predicate(in_range, valid)


@lowers("VOTE{,.ANY,.ALL,.EQ}", "VOTEU{,.ANY,.ALL,.EQ}", has_effect=True)
def vote(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The lanes where a condition holds, and whether it does in any or all active ones."""
    condition = ctx.predicate(i.operands[-1])
    votes = ballot(ctx, condition)
    for target in i.operands[:-1]:
        if isinstance(target, Register):
            ctx.write(target, votes)
        elif isinstance(target, Predicate):
            if target.index is not None:
                ctx.write_predicate(target, _verdict(ctx, i, votes))
        else:
            raise i.unknown("a target that is no register")


def _verdict(ctx: LoweringContext, i: DecodedInstruction, votes: Value) -> Value:
    if i.has("ANY"):
        return ctx.ir.icmp("ne", votes, i32(0))
    everyone = ctx.ir.icmp("eq", votes, ballot(ctx, TRUE))
    if i.has("EQ"):
        return ctx.ir.either(everyone, ctx.ir.icmp("eq", votes, i32(0)))
    return everyone


@lowers("MATCH.{ANY,ALL}{,.U64}", has_effect=True)
def match(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The active lanes with the same value; with .ALL none unless all agree."""
    predicates = [operand for operand in i.operands if isinstance(operand, Predicate)]
    target, source = Operands(o for o in i.operands if not isinstance(o, Predicate)).exactly(2)
    words = [ctx.bits(source, number) for number in range(2 if i.has("U64") else 1)]
    active = ballot(ctx, TRUE)
    result = active
    for word in words:
        for bit in range(32):
            own = ctx.ir.op("ashr", ctx.ir.op("shl", word, i32(31 - bit)), i32(31))
            others = ballot(ctx, ctx.ir.icmp("ne", own, i32(0)))
            same = ctx.ir.invert(ctx.ir.op("xor", others, own))
            result = ctx.ir.op("and", result, same)
    if i.has("ALL"):
        agree = ctx.ir.icmp("eq", result, active)
        result = ctx.select(agree, result, i32(0))
        for predicate in predicates:
            ctx.write_predicate(predicate, agree)
    ctx.write(target, result)


_REDUCTIONS = {"SUM": "add", "OR": "or", "XOR": "xor", "AND": "and", "MIN": "min", "MAX": "max"}


@lowers(
    "REDUX",
    "REDUX.{SUM,OR,XOR,MIN,MAX,AND}{,.S32,.U32}",
    "CREDUX.{MIN,MAX}{,.S32,.U32}",
    has_effect=True,
)
def reduce(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """One word of all active lanes: by exchange where all are active, else one by one."""
    operation = _REDUCTIONS[i.one_of(*_REDUCTIONS, default="AND")]
    signed = i.has("S32")
    value = ctx.integer(i.operands[1])
    ctx.registers.flush()
    active = ballot(ctx, TRUE)
    number = ctx.ir.fresh()
    full = ctx.ir.icmp("eq", active, i32(-1))
    ctx.ir.line(f"br {full}, label %full{number}, label %some{number}")
    ctx.ir.label(f"full{number}")
    total = value
    for distance in (1, 2, 4, 8, 16):
        # Bit mode of ds_swizzle, within 32 lanes: exclusive or of the lane, all bits kept.
        pattern = i32(distance << 10 | 0x1F)
        other = ctx.ir.call("i32", "llvm.amdgcn.ds.swizzle", total, pattern)
        total = _combined(ctx, operation, total, other, signed=signed)
    ctx.ir.line(f"br label %done{number}")
    partial = _reduce_some(ctx, number, value, active, (operation, signed))
    ctx.ir.label(f"done{number}")
    merged = ctx.ir.result(
        "i32", f"phi i32 [ {total.name}, %full{number} ], [ {partial}, %some{number}.loop ]"
    )
    ctx.write(i.operands[0], from_first_lane(ctx, merged))


def _reduce_some(
    ctx: LoweringContext, number: int, value: Value, active: Value, how: tuple[str, bool]
) -> str:
    """The loop over active lanes in block ``someN``; the name of its result."""
    operation, signed = how
    neutral = {"add": 0, "or": 0, "xor": 0, "and": -1}.get(operation)
    if neutral is None:
        least, most = (-(1 << 31), (1 << 31) - 1) if signed else (0, -1)
        neutral = most if operation == "min" else least
    loop = f"some{number}.loop"
    ctx.ir.label(f"some{number}")
    ctx.ir.line(f"br label %{loop}")
    ctx.ir.label(f"{loop}")
    start = f"%some{number}"
    left, total = f"%left{number}", f"%total{number}"
    next_left, next_total = f"%next.left{number}", f"%next.total{number}"
    ctx.ir.line(f"{left} = phi i32 [ {active.name}, {start} ], [ {next_left}, %{loop} ]")
    ctx.ir.line(f"{total} = phi i32 [ {i32(neutral).name}, {start} ], [ {next_total}, %{loop} ]")
    one = ctx.ir.call("i32", "llvm.cttz.i32", Value("i32", left), TRUE)
    word = from_uniform_lane(ctx, value, one)
    combined = _combined(ctx, operation, Value("i32", total), word, signed=signed)
    ctx.ir.line(f"{next_total} = add {combined}, 0")
    rest = ctx.ir.op("sub", Value("i32", left), i32(1))
    ctx.ir.line(f"{next_left} = and i32 {left}, {rest.name}")
    more = ctx.ir.icmp("ne", Value("i32", next_left), i32(0))
    ctx.ir.line(f"br {more}, label %{loop}, label %done{number}")
    return next_total


def _combined(
    ctx: LoweringContext, operation: str, left: Value, right: Value, *, signed: bool
) -> Value:
    if operation in ("min", "max"):
        return ctx.ir.call("i32", f"llvm.{'s' if signed else 'u'}{operation}.i32", left, right)
    return ctx.ir.op(operation, left, right)


@lowers("R2UR{,.OR,.BROADCAST,.FILL}", has_effect=True)
def to_uniform(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A register to a uniform register: the value of one of the lanes.

    A leading predicate is set in the lanes that hold another value, for loops over all values; with
    .OR it stays set where it is. .BROADCAST: the same from sm_100 on, where ptxas hands the
    words of each lane to a bulk copy in turn; for sm_90 it writes R2UR there.
    """
    predicates = [o for o in i.operands if isinstance(o, Predicate) and o.index is not None]
    operands = Operands(o for o in i.operands if not isinstance(o, Predicate))
    value = ctx.integer(operands[1])
    uniform = value
    if value.number is None:
        uniform = from_first_lane(ctx, value)
        if (above := ctx.handles.above(value)) is not None:
            ctx.handles.set_above(uniform, from_first_lane(ctx, above))
    for predicate in predicates:
        differs = ctx.ir.icmp("ne", value, uniform)
        if i.has("OR"):
            differs = ctx.ir.either(ctx.predicate(predicate), differs)
        ctx.write_predicate(predicate, differs)
    ctx.write(operands[0], uniform)


@lowers("ELECT", has_effect=True)
def elect(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """True in the first active lane; a register gets that lane's number."""
    predicates = Operands(operand for operand in i.operands if isinstance(operand, Predicate))
    registers = [operand for operand in i.operands if isinstance(operand, Register)]
    active = ballot(ctx, TRUE)
    leader = ctx.ir.call("i32", "llvm.cttz.i32", active, FALSE)
    ctx.write_predicate(predicates[0], ctx.ir.icmp("eq", lane(ctx), leader))
    if registers:
        ctx.write(registers[0], leader)
