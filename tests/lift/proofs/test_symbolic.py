"""LLVM IR as terms: values by hand from the language reference, refusals, what must be defined."""

from __future__ import annotations

import pytest
import z3

from tests.lift.proofs.symbolic import Kernel, NotProvable, evaluate

_STORE = "store i32 %r, ptr addrspace(1) %p, align 4"
_POINTER = "%p = inttoptr i64 4096 to ptr addrspace(1)"


def kernel(*lines: str) -> Kernel:
    return evaluate("\n".join(["entry:", _POINTER, *lines, "ret void"]))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("call i32 @llvm.ctlz.i32(i32 65536, i1 false)", 15),
        ("call i32 @llvm.ctlz.i32(i32 0, i1 false)", 32),
        ("call i32 @llvm.ctpop.i32(i32 983055)", 8),
        ("call i32 @llvm.bitreverse.i32(i32 1)", 0x80000000),
        ("call i32 @llvm.fshl.i32(i32 1, i32 2147483648, i32 33)", 3),
        ("call i32 @llvm.fshr.i32(i32 1, i32 2, i32 1)", 0x80000001),
        ("call i32 @llvm.smin.i32(i32 -1, i32 1)", 0xFFFFFFFF),
        ("call i32 @llvm.umin.i32(i32 -1, i32 1)", 1),
        ("call i32 @llvm.abs.i32(i32 2147483648, i1 false)", 0x80000000),
        ("ashr i32 -8, 1", 0xFFFFFFFC),
        ("lshr i32 -8, 1", 0x7FFFFFFC),
        ("select i1 false, i32 1, i32 2", 2),
    ],
)
def test_values(text: str, value: int) -> None:
    (store,) = kernel(f"%r = {text}", _STORE).stores
    assert z3.simplify(store.value).as_long() == value


def test_vectors_keep_their_halves_apart() -> None:
    (store,) = kernel(
        "%a = bitcast i32 65537 to <2 x i16>",
        "%b = bitcast i32 131071 to <2 x i16>",
        "%c = add <2 x i16> %a, %b",
        "%r = bitcast <2 x i16> %c to i32",
        _STORE,
    ).stores
    assert z3.simplify(store.value).as_long() == 0x00020000  # 1 + 1, and 1 + 0xffff without carry


def test_a_shift_by_the_width_is_undefined() -> None:
    lines = ("%n = load i32, ptr addrspace(5) %R4", "%r = shl i32 1, %n", _STORE)
    solver = z3.Solver()
    solver.add(z3.Not(z3.And(kernel(*lines).obligations)), z3.BitVec("R4", 32) == 32)
    assert solver.check() == z3.sat


def test_branches_meet_with_what_each_has_written() -> None:
    (store,) = kernel(
        "%c = load i1, ptr addrspace(5) %P0",
        "store i32 1, ptr addrspace(5) %R4",
        "br i1 %c, label %do, label %skip",
        "do:",
        "store i32 2, ptr addrspace(5) %R4",
        "br label %skip",
        "skip:",
        "%r = load i32, ptr addrspace(5) %R4",
        _STORE,
    ).stores
    for taken, value in ((True, 2), (False, 1)):
        found = z3.substitute(store.value, (z3.Bool("P0"), z3.BoolVal(taken)))
        assert z3.simplify(found).as_long() == value


def of_argument(offset: int, width: int) -> tuple[str, ...]:
    return (
        "%a = call ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()",
        f"%q = getelementptr i8, ptr addrspace(4) %a, i64 {offset}",
        f"%n = load i{width}, ptr addrspace(4) %q, align 1, !invariant.load !0",
        f"%r = zext i{width} %n to i32",
        _STORE,
    )


@pytest.mark.parametrize(
    ("offset", "width", "value"), [(8, 8, 0x44), (11, 8, 0x11), (9, 16, 0x2233), (10, 16, 0x1122)]
)
def test_parts_of_a_word_of_the_arguments(offset: int, width: int, value: int) -> None:
    """Memory is little-endian; sm_80's parameters begin at 0x160."""
    (store,) = kernel(*of_argument(offset, width)).stores
    word = (z3.BitVec("c[0x0][0x168]", 32), z3.BitVecVal(0x11223344, 32))
    assert z3.simplify(z3.substitute(store.value, word)).as_long() == value


@pytest.mark.parametrize(
    "lines",
    [
        of_argument(11, 16),
        ("%r = freeze i32 5", _STORE),
        ("%r = add nsw i32 1, 2", _STORE),
        ("%r = call i32 @llvm.ctlz.i32(i32 1, i1 true)", _STORE),
        ("%r = call i32 @unheard_of(i32 1)", _STORE),
        ("fence acquire",),
        ("store i32 poison, ptr addrspace(5) %R4", "%r = load i32, ptr addrspace(5) %R4", _STORE),
        ("br label %again", "again:", "br label %again"),
        ("%q = inttoptr i64 8 to ptr addrspace(1)", "%r = load i32, ptr addrspace(1) %q", _STORE),
    ],
)
def test_what_is_not_known_is_refused(lines: tuple[str, ...]) -> None:
    with pytest.raises(NotProvable):
        kernel(*lines)
