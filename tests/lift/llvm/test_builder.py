"""Folding in the IR builder: results of operations on constants are those of integers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cass_ray.lift.llvm.builder import (
    FALSE,
    LONGEST_STRETCH,
    TRUE,
    IRBuilder,
    Value,
    i32,
    i64,
    integer_constant,
)

WORDS = st.integers(0, 2**32 - 1)
X = Value("i32", "%x")


@given(st.sampled_from(["add", "sub", "mul", "and", "or", "xor"]), WORDS, WORDS)
def test_constants_are_computed_modulo_the_width(opcode: str, a: int, b: int) -> None:
    expected = {
        "add": a + b,
        "sub": a - b,
        "mul": a * b,
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
    }[opcode]
    ir = IRBuilder()
    assert ir.op(opcode, i32(a), i32(b)).number == expected % 2**32
    assert ir.lines == []


@given(WORDS, st.integers(0, 31))
def test_shifts_of_constants(a: int, distance: int) -> None:
    ir = IRBuilder()
    signed = a - 2**32 if a >= 2**31 else a
    assert ir.op("shl", i32(a), i32(distance)).number == a << distance & 0xFFFFFFFF
    assert ir.op("lshr", i32(a), i32(distance)).number == a >> distance
    assert ir.op("ashr", i32(a), i32(distance)).number == signed >> distance & 0xFFFFFFFF


def test_a_shift_beyond_the_width_is_left_to_llvm_as_it_is() -> None:
    ir = IRBuilder()
    assert ir.op("shl", i32(1), i32(32)).number is None


def test_neutral_operands_need_no_instruction() -> None:
    ir = IRBuilder()
    for opcode in ("add", "sub", "or", "xor", "shl", "lshr", "ashr"):
        assert ir.op(opcode, X, i32(0)) == X
    assert ir.op("mul", X, i32(1)) == X
    assert ir.op("and", i32(0xFFFFFFFF), X) == X
    assert ir.op("mul", i32(0), X) == i32(0)
    assert ir.lines == []


def test_a_zero_that_is_not_neutral_is_kept() -> None:
    ir = IRBuilder()
    assert ir.op("sub", i32(0), X).number is None
    assert ir.lines == ["  %v1 = sub i32 0, %x"]


@given(WORDS)
def test_casts_of_constants(number: int) -> None:
    ir = IRBuilder()
    assert ir.cast("zext", i32(number), "i64") == i64(number)
    signed = number - 2**32 if number >= 2**31 else number
    assert ir.cast("sext", i32(number), "i64") == i64(signed)
    assert ir.cast("trunc", i32(number), "i8") == integer_constant("i8", number)


@given(WORDS, WORDS)
def test_a_pair_of_constants_and_its_halves(low: int, high: int) -> None:
    ir = IRBuilder()
    pair = ir.pair(i32(low), i32(high))
    assert pair.number == high << 32 | low
    assert (ir.low(pair), ir.high(pair)) == (i32(low), i32(high))


def test_conditions() -> None:
    ir = IRBuilder()
    p = Value("i1", "%p")
    assert ir.both(TRUE, p) == p
    assert ir.both(p, FALSE) == FALSE
    assert ir.either(FALSE, p) == p
    assert ir.either(p, TRUE) == TRUE
    assert ir.exclusive(p, FALSE) == p
    assert ir.exclusive(TRUE, TRUE) == FALSE
    assert ir.invert(TRUE) == FALSE
    assert ir.select(TRUE, X, i32(1)) == X
    assert ir.lines == []


def test_a_comparison_of_vectors_gives_a_vector() -> None:
    ir = IRBuilder()
    vector = Value("<2 x half>", "%v")
    assert ir.fcmp("olt", vector, vector).type == "<2 x i1>"


WIDE = Value("i64", "%wide")


def test_the_halves_of_a_value_are_put_together_to_it() -> None:
    ir = IRBuilder()
    low, high = ir.low(WIDE), ir.high(WIDE)
    written = len(ir.lines)
    assert ir.pair(low, high) == WIDE
    assert len(ir.lines) == written


def test_halves_of_different_values_or_in_another_order_are_no_whole() -> None:
    ir = IRBuilder()
    low, high = ir.low(WIDE), ir.high(WIDE)
    other = ir.high(Value("i64", "%other"))
    assert WIDE not in (ir.pair(high, low), ir.pair(low, other), ir.pair(low, low))


def test_the_halves_of_a_pair_are_its_words() -> None:
    ir = IRBuilder()
    pair = ir.pair(X, Value("i32", "%y"))
    written = len(ir.lines)
    assert (ir.low(pair), ir.high(pair)) == (X, Value("i32", "%y"))
    assert len(ir.lines) == written


def test_a_cast_back_is_what_was_cast() -> None:
    ir = IRBuilder()
    number = ir.cast("bitcast", X, "float")
    assert ir.cast("bitcast", number, "i32") == X
    assert ir.cast("bitcast", number, "<2 x i16>") != X


def test_a_value_is_kept_for_its_block_only() -> None:
    ir = IRBuilder()

    def load() -> Value:
        return ir.load("i32", Value("ptr", "%place"), 4)

    first = ir.once("place", load)
    assert ir.once("place", load) == first
    ir.label("another")
    assert ir.once("place", load) != first


def test_a_double_of_two_words_keeps_them_words() -> None:
    """Shifted into an integer, LLVM merges 64 bits of each where paths meet."""
    ir = IRBuilder()
    low, high = ir.result("i32", "load"), ir.result("i32", "load")
    made = ir.double_of(low, high)
    assert made.type == "double"
    assert ir.lines[-1] == f"  {made.name} = bitcast <2 x i32> %v4 to double"
    whole = ir.result("i64", "load")
    assert ir.are_halves(ir.low(whole), ir.high(whole))
    assert not ir.are_halves(ir.high(whole), ir.low(whole))
    assert not ir.are_halves(low, ir.high(whole))
    halves = ir.double_of(ir.low(whole), ir.high(whole))
    assert ir.lines[-1] == f"  {halves.name} = bitcast i64 {whole.name} to double"


def test_a_long_block_is_scheduled_in_stretches() -> None:
    """Short ones whole, however many there are: a label begins the next."""
    ir = IRBuilder()
    for block in range(3):
        ir.label(f"short{block}")
        for _ in range(LONGEST_STRETCH):
            ir.line('fence syncscope("wavefront") acquire')
            ir.bound_stretch()
    assert not any("sched.barrier" in line for line in ir.lines)
    ir.label("long")
    for _ in range(3 * LONGEST_STRETCH):
        ir.line('fence syncscope("wavefront") acquire')
        ir.bound_stretch()
    places = [n for n, line in enumerate(ir.lines) if "sched.barrier" in line]
    assert len(places) == 2
    assert places[1] - places[0] == LONGEST_STRETCH + 2
