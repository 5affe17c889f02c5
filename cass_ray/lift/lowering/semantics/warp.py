"""Exchange between the lanes of a warp, which is a wave of 32 lanes."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import Instruction
from cass_ray.lift.frontend.operands import Operand, Predicate, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32
from cass_ray.lift.lowering.context import Thread
from cass_ray.lift.lowering.semantics.special import lane
from cass_ray.lift.lowering.table import lowers

_LANES = 32


def ballot(t: Thread, condition: Value) -> Value:
    """The lanes that are active and where ``condition`` holds."""
    return t.call("i32", "llvm.amdgcn.ballot.i32", condition)


def read_lane(t: Thread, value: Value, number: Value) -> Value:
    """The word ``value`` of one lane, for all lanes; ``number`` is uniform."""
    return t.call("i32", "llvm.amdgcn.readlane.i32", value, number)


@lowers("SHFL.{UP,DOWN,BFLY,IDX}", has_effect=True)
def shuffle(t: Thread, i: Instruction) -> None:
    """A word of another lane of the same segment; the predicate says whether there is one."""
    found, target, source, distance, limits = i.operands
    own = lane(t)
    word, step, clamp = t.integer(source), t.integer(distance), t.integer(limits)
    segment = t.op("and", t.op("lshr", clamp, i32(8)), i32(31))
    inside = t.op("xor", segment, i32(31))
    first = t.op("and", own, segment)
    last = t.op("or", first, t.op("and", t.op("and", clamp, i32(31)), inside))
    step = t.op("and", step, i32(31))
    if i.has("UP"):
        chosen = t.op("sub", own, step)
        valid = t.icmp("sge", chosen, last)
    elif i.has("DOWN"):
        chosen = t.op("add", own, step)
        valid = t.icmp("sle", chosen, last)
    elif i.has("BFLY"):
        chosen = t.op("xor", own, step)
        valid = TRUE if last.number == 31 else t.icmp("sle", chosen, last)
    else:
        chosen = t.op("or", first, t.op("and", step, inside))
        valid = TRUE if last.number == 31 else t.icmp("sle", chosen, last)
    chosen = t.select(valid, chosen, own)
    place = t.op("shl", chosen, i32(2))
    t.write(target, t.call("i32", "llvm.amdgcn.ds.bpermute", place, word))
    t.write_predicate(found, valid)


@lowers("VOTE{,.ANY,.ALL,.EQ}", "VOTEU{,.ANY,.ALL,.EQ}", has_effect=True)
def vote(t: Thread, i: Instruction) -> None:
    """The lanes where a condition holds, and whether it does in any or all active ones."""
    operands = list(i.operands)
    condition = t.predicate(operands.pop())
    votes = ballot(t, condition)
    for target in operands:
        if isinstance(target, Register):
            t.write(target, votes)
        elif isinstance(target, Predicate):
            if target.index is not None:
                t.write_predicate(target, _verdict(t, i, votes))
        else:
            raise i.unknown("a target that is no register")


def _verdict(t: Thread, i: Instruction, votes: Value) -> Value:
    if i.has("ANY"):
        return t.icmp("ne", votes, i32(0))
    everyone = t.icmp("eq", votes, ballot(t, TRUE))
    if i.has("EQ"):
        return t.either(everyone, t.icmp("eq", votes, i32(0)))
    return everyone


@lowers("MATCH.{ANY,ALL}{,.U64}", has_effect=True)
def match(t: Thread, i: Instruction) -> None:
    """The active lanes with the same value; with .ALL none unless all agree."""
    predicates = [operand for operand in i.operands if isinstance(operand, Predicate)]
    target, source = (o for o in i.operands if not isinstance(o, Predicate))
    words = [t.bits(source, number) for number in range(2 if i.has("U64") else 1)]
    active = ballot(t, TRUE)
    result = i32(0)
    for number in range(_LANES):
        same: Value = TRUE
        for word in words:
            same = t.both(same, t.icmp("eq", word, read_lane(t, word, i32(number))))
        result = t.op("or", result, t.select(same, i32(1 << number), i32(0)))
    result = t.op("and", result, active)
    if i.has("ALL"):
        agree = t.icmp("eq", result, active)
        result = t.select(agree, result, i32(0))
        for predicate in predicates:
            t.write_predicate(predicate, agree)
    t.write(target, result)


_REDUCTIONS = {"SUM": "add", "OR": "or", "XOR": "xor", "AND": "and", "MIN": "min", "MAX": "max"}


@lowers(
    "REDUX",
    "REDUX.{SUM,OR,XOR,MIN,MAX,AND}{,.S32,.U32}",
    "CREDUX.{MIN,MAX}{,.S32,.U32}",
    has_effect=True,
)
def reduce(t: Thread, i: Instruction) -> None:
    """One word of all active lanes: by exchange where all are active, else one by one."""
    operation = _REDUCTIONS[i.one_of(*_REDUCTIONS, default="AND")]
    signed = i.has("S32")
    value = t.integer(i.operands[1])
    t.flush()
    active = ballot(t, TRUE)
    number = t.fresh()
    full = t.icmp("eq", active, i32(-1))
    t.line(f"br {full}, label %full{number}, label %some{number}")
    t.lines.append(f"full{number}:")
    total = value
    for distance in (1, 2, 4, 8, 16):
        # Bit mode of ds_swizzle: exclusive or of the lane, all bits kept.
        pattern = i32(distance << 10 | 0x1F)
        other = t.call("i32", "llvm.amdgcn.ds.swizzle", total, pattern)
        total = _combined(t, operation, total, other, signed=signed)
    t.line(f"br label %done{number}")
    partial = _reduce_some(t, number, value, active, (operation, signed))
    t.lines.append(f"done{number}:")
    merged = t.result(
        "i32", f"phi i32 [ {total.name}, %full{number} ], [ {partial}, %some{number}.loop ]"
    )
    t.write(i.operands[0], t.call("i32", "llvm.amdgcn.readfirstlane.i32", merged))


def _reduce_some(t: Thread, number: int, value: Value, active: Value, how: tuple[str, bool]) -> str:
    """The loop over active lanes in block ``someN``; the name of its result."""
    operation, signed = how
    neutral = {"add": 0, "or": 0, "xor": 0, "and": -1}.get(operation)
    if neutral is None:
        least, most = (-(1 << 31), (1 << 31) - 1) if signed else (0, -1)
        neutral = most if operation == "min" else least
    loop = f"some{number}.loop"
    t.lines.append(f"some{number}:")
    t.line(f"br label %{loop}")
    t.lines.append(f"{loop}:")
    start = f"%some{number}"
    left, total = f"%left{number}", f"%total{number}"
    next_left, next_total = f"%next.left{number}", f"%next.total{number}"
    t.line(f"{left} = phi i32 [ {active.name}, {start} ], [ {next_left}, %{loop} ]")
    t.line(f"{total} = phi i32 [ {i32(neutral).name}, {start} ], [ {next_total}, %{loop} ]")
    one = t.call("i32", "llvm.cttz.i32", Value("i32", left), TRUE)
    word = read_lane(t, value, one)
    combined = _combined(t, operation, Value("i32", total), word, signed=signed)
    t.line(f"{next_total} = add {combined}, 0")
    rest = t.op("sub", Value("i32", left), i32(1))
    t.line(f"{next_left} = and i32 {left}, {rest.name}")
    more = t.icmp("ne", Value("i32", next_left), i32(0))
    t.line(f"br {more}, label %{loop}, label %done{number}")
    return next_total


def _combined(t: Thread, operation: str, left: Value, right: Value, *, signed: bool) -> Value:
    if operation in ("min", "max"):
        return t.call("i32", f"llvm.{'s' if signed else 'u'}{operation}.i32", left, right)
    return t.op(operation, left, right)


@lowers("R2UR{,.OR}", has_effect=True)
def to_uniform(t: Thread, i: Instruction) -> None:
    """A register to a uniform register: the value of one of the lanes.

    A leading predicate is set in the lanes that hold another value, for loops over all values; with
    .OR it stays set where it is.
    """
    predicates = [o for o in i.operands if isinstance(o, Predicate) and o.index is not None]
    operands: list[Operand] = [o for o in i.operands if not isinstance(o, Predicate)]
    value = t.integer(operands[1])
    uniform = value
    if value.number is None:
        uniform = t.call("i32", "llvm.amdgcn.readfirstlane.i32", value)
        if (above := t.upper_word(value)) is not None:
            t.upper_words[uniform.name] = t.call("i32", "llvm.amdgcn.readfirstlane.i32", above)
    for predicate in predicates:
        differs = t.icmp("ne", value, uniform)
        if i.has("OR"):
            differs = t.either(t.predicate(predicate), differs)
        t.write_predicate(predicate, differs)
    t.write(operands[0], uniform)


@lowers("ELECT", has_effect=True)
def elect(t: Thread, i: Instruction) -> None:
    """True in the first active lane."""
    predicates = [operand for operand in i.operands if isinstance(operand, Predicate)]
    registers = [operand for operand in i.operands if isinstance(operand, Register)]
    active = ballot(t, TRUE)
    leader = t.call("i32", "llvm.cttz.i32", active, FALSE)
    t.write_predicate(predicates[0], t.icmp("eq", lane(t), leader))
    if registers:
        t.write(registers[0], leader)
