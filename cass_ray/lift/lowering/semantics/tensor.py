"""Tensor cores: matrix products of a warp, by exchange between lanes and ordinary arithmetic.

Lane ``4 g + t`` (PTX's groupID g, threadID_in_group t) holds of A rows g and g + 8, of B column g,
and of C columns 2 t and 2 t + 1; a word of A or B holds consecutive elements along k (PTX ISA,
"Matrix Fragments for mma"). Integers are exact. Sums of products of halves are rounded at each
step, in the order of k; Nvidia's hardware aligns and cuts them its own way.
"""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.lift.frontend.instruction import Instruction
from cass_ray.lift.frontend.operands import Address, Operand, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32
from cass_ray.lift.lowering.context import Thread
from cass_ray.lift.lowering.semantics.memory import narrow_address
from cass_ray.lift.lowering.semantics.special import lane
from cass_ray.lift.lowering.table import lowers


@dataclass(frozen=True)
class Shape:
    """Words of A for each of ``rows`` (1: g, 2: g and g + 8), and of B, along k."""

    rows: int
    words: int


_SHAPES = {
    "8816": Shape(1, 1),
    "16816": Shape(2, 1),
    "16832": Shape(2, 2),
}
_HALF_SHAPES = {"1688": Shape(2, 1), "16816": Shape(2, 2)}


def _from_lane(t: Thread, word: Value, number: Value) -> Value:
    return t.call("i32", "llvm.amdgcn.ds.bpermute", t.op("shl", number, i32(2)), word)


def _registers(t: Thread, i: Instruction, operand: Operand, count: int) -> list[Value]:
    if not isinstance(operand, Register) or operand.negated or operand.absolute:
        raise i.unknown("a matrix that is no plain register")
    if any(suffix not in ("ROW", "COL") for suffix in operand.suffixes):
        raise i.unknown(f"a matrix {operand.suffixes}")
    return [t.register(operand.following(number)) for number in range(count)]


@dataclass(frozen=True)
class Gathered:
    """Words of A by row, and of B by column (2 t, 2 t + 1), in the order of k."""

    rows: list[list[Value]]
    columns: list[list[Value]]


def _gather(t: Thread, i: Instruction, shape: Shape) -> Gathered:
    own = lane(t)
    a = _registers(t, i, i.operands[1], shape.rows * shape.words)
    b = _registers(t, i, i.operands[2], shape.words)
    group = t.op("and", own, i32(~3))  # 4 g
    first_column = t.op("shl", t.op("and", own, i32(3)), i32(3))  # lane 4 (2 t)
    rows: list[list[Value]] = [[] for _ in range(shape.rows)]
    columns: list[list[Value]] = [[], []]
    for word in range(shape.words):
        for step in range(4):
            source = t.op("add", group, i32(step))
            for row in range(shape.rows):
                rows[row].append(_from_lane(t, a[word * shape.rows + row], source))
            for column in range(2):
                place = t.op("add", first_column, i32(4 * column + step))
                columns[column].append(_from_lane(t, b[word], place))
    return Gathered(rows, columns)


@lowers("IMMA.{8816,16816,16832}.{U8,S8}.{U8,S8}{,.SAT}", has_effect=True)
def multiply_bytes(t: Thread, i: Instruction) -> None:
    """Bytes, summed in words; with .SAT the last sum, with what was there before, saturates."""
    shape = _SHAPES[i.modifiers[0]]
    gathered = _gather(t, i, shape)
    signs = [TRUE if kind == "S8" else FALSE for kind in i.modifiers[1:3]]
    sums = _registers(t, i, i.operands[3], 2 * shape.rows)
    results = []
    for row in range(shape.rows):
        for column in range(2):
            before = sums[2 * row + column]
            total = i32(0) if i.has("SAT") else before
            for a, b in zip(gathered.rows[row], gathered.columns[column], strict=True):
                arguments = (signs[0], a, signs[1], b, total, FALSE)
                total = t.call("i32", "llvm.amdgcn.sudot4", *arguments)
            if i.has("SAT"):
                total = t.call("i32", "llvm.sadd.sat.i32", before, total)
            results.append(total)
    t.write_words(i.operands[0], results)


@lowers("HMMA.{1688,16816}.F32{,.BF16}", has_effect=True)
def multiply_halves(t: Thread, i: Instruction) -> None:
    """fp16 or bf16, summed in single precision."""
    shape = _HALF_SHAPES[i.modifiers[0]]
    kind = "bfloat" if i.has("BF16") else "half"
    sums = _registers(t, i, i.operands[3], 4)
    totals = [t.cast("bitcast", word, "float") for word in sums]
    results = _products(t, _gather(t, i, shape), totals, kind)
    t.write_words(i.operands[0], results)


@lowers("HMMA.{1684,1688}.F32.TF32", has_effect=True)
def multiply_tf32(t: Thread, i: Instruction) -> None:
    """Single precision cut to eleven bits, one number a word."""
    shape = Shape(2, 1 if i.has("1684") else 2)
    gathered = _gather(t, i, shape)
    sums = [t.cast("bitcast", word, "float") for word in _registers(t, i, i.operands[3], 4)]
    results = []
    for row in range(2):
        for column in range(2):
            total = sums[2 * row + column]
            words = zip(gathered.rows[row], gathered.columns[column], strict=True)
            for a, b in words:
                cut = (t.op("and", word, i32(~0x1FFF)) for word in (a, b))
                factors = [t.cast("bitcast", word, "float") for word in cut]
                total = t.call("float", "llvm.fma.f32", *factors, total)
            results.append(total)
    t.write_words(i.operands[0], results)


@lowers("DMMA.884", has_effect=True)
def multiply_doubles(t: Thread, i: Instruction) -> None:
    """Double precision, four products each."""
    own = lane(t)
    group = t.op("and", own, i32(~3))
    first_column = t.op("shl", t.op("and", own, i32(3)), i32(3))
    a = _registers(t, i, i.operands[1], 2)
    b = _registers(t, i, i.operands[2], 2)
    sums = _registers(t, i, i.operands[3], 4)
    results: list[Value] = []
    for column in range(2):
        total = t.cast("bitcast", t.pair(sums[2 * column], sums[2 * column + 1]), "double")
        for step in range(4):
            left = t.op("add", group, i32(step))
            right = t.op("add", first_column, i32(4 * column + step))
            factors = [_double_from(t, a, left), _double_from(t, b, right)]
            total = t.call("double", "llvm.fma.f64", *factors, total)
        bits = t.cast("bitcast", total, "i64")
        results += [t.low(bits), t.high(bits)]
    t.write_words(i.operands[0], results)


def _double_from(t: Thread, words: list[Value], number: Value) -> Value:
    low, high = (_from_lane(t, word, number) for word in words)
    return t.cast("bitcast", t.pair(low, high), "double")


@lowers("HMMA.{1688,16816}.F16", has_effect=True)
def multiply_halves_to_halves(t: Thread, i: Instruction) -> None:
    """fp16, summed in single precision and rounded at the end."""
    shape = _HALF_SHAPES[i.modifiers[0]]
    totals: list[Value] = []
    for word in _registers(t, i, i.operands[3], 2):
        pair = t.result("<2 x half>", f"bitcast {word} to <2 x half>")
        totals += [t.cast("fpext", t.element(pair, n, "half"), "float") for n in range(2)]
    sums = _products(t, _gather(t, i, shape), totals, "half")
    halves = [t.cast("fptrunc", value, "half") for value in sums]
    pairs = [t.vector(halves[:2]), t.vector(halves[2:])]
    t.write_words(i.operands[0], [t.result("i32", f"bitcast {p} to i32") for p in pairs])


def _products(t: Thread, gathered: Gathered, totals: list[Value], kind: str) -> list[Value]:
    rows = [[_pair(t, word, kind) for word in words] for words in gathered.rows]
    columns = [[_pair(t, word, kind) for word in words] for words in gathered.columns]
    results = []
    for row in range(2):
        for column in range(2):
            total = totals[2 * row + column]
            for left, right in zip(rows[row], columns[column], strict=True):
                for a, b in zip(left, right, strict=True):
                    total = t.call("float", "llvm.fma.f32", a, b, total)
            results.append(total)
    return results


def _pair(t: Thread, word: Value, kind: str) -> list[Value]:
    vector = t.result(f"<2 x {kind}>", f"bitcast {word} to <2 x {kind}>")
    return [t.cast("fpext", t.element(vector, n, kind), "float") for n in range(2)]


@lowers("LDSM.16.{M88,MT88}{,.2,.4}", has_effect=True)
def load_matrices(t: Thread, i: Instruction) -> None:
    """8 × 8 matrices of halves from shared memory; lane 8 m + r has the address of row r of m."""
    address = next(operand for operand in i.operands if isinstance(operand, Address))
    base = t.op(
        "add", narrow_address(t, i, address), i32(address.offset + t.environment.shared_shift)
    )
    own = lane(t)
    group, inside = t.op("lshr", own, i32(2)), t.op("and", own, i32(3))
    count = int(i.one_of("2", "4", default="1"))
    words = []
    for matrix in range(count):
        if i.has("M88"):
            row = _from_lane(t, base, t.op("add", group, i32(8 * matrix)))
            words.append(_shared_load(t, "i32", t.op("add", row, t.op("shl", inside, i32(2))), 4))
            continue
        halves = []
        for number in range(2):
            lines = t.op("add", t.op("shl", inside, i32(1)), i32(8 * matrix + number))
            row = _from_lane(t, base, lines)
            place = t.op("add", row, t.op("shl", group, i32(1)))
            halves.append(t.cast("zext", _shared_load(t, "i16", place, 2), "i32"))
        words.append(t.op("or", halves[0], t.op("shl", halves[1], i32(16))))
    t.write_words(i.operands[0], words)


def _shared_load(t: Thread, kind: str, place: Value, align: int) -> Value:
    return t.load(kind, t.cast("inttoptr", place, "ptr addrspace(3)"), align)


@lowers("MOVM.16.MT88", has_effect=True)
def transpose(t: Thread, i: Instruction) -> None:
    """Transpose an 8 × 8 matrix of halves that the warp holds, a row in four lanes."""
    own = lane(t)
    group, inside = t.op("lshr", own, i32(2)), t.op("and", own, i32(3))
    word = t.integer(i.operands[1])
    odd = t.icmp("ne", t.op("and", group, i32(1)), i32(0))
    halves = []
    for number in range(2):
        row = t.op("add", t.op("shl", inside, i32(1)), i32(number))
        source = t.op("add", t.op("shl", row, i32(2)), t.op("lshr", group, i32(1)))
        moved = _from_lane(t, word, source)
        high, low = t.op("lshr", moved, i32(16)), t.op("and", moved, i32(0xFFFF))
        halves.append(t.select(odd, high, low))
    t.write(i.operands[0], t.op("or", halves[0], t.op("shl", halves[1], i32(16))))
