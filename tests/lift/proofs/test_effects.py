"""Kernels whose effects differ in one thing."""

from __future__ import annotations

import pytest
import z3

from tests.lift.proofs.effects import difference, doings
from tests.lift.proofs.symbolic import NotProvable

_ENTRY = """define amdgpu_kernel void @{name}(ptr) {attributes} {{
entry:
  %R1 = alloca i32, align 4, addrspace(5)
  %R2 = alloca i32, align 4, addrspace(5)
  %frame = alloca [4 x i32], align 16, addrspace(5)
  %a = load i32, ptr addrspace(5) %R1
  %b = load i32, ptr addrspace(5) %R2
  %p = inttoptr i32 %a to ptr addrspace(3)
  %q = inttoptr i32 %b to ptr addrspace(3)
  {body}
  ret void
}}
"""


def same(one: str, other: str, attributes: tuple[str, str] = ("", "")) -> bool:
    text = "".join(
        _ENTRY.format(name=name, attributes=each, body=body.replace("; ", "\n  "))
        for name, body, each in zip("xy", (one, other), attributes, strict=True)
    )
    found = doings(text)
    plain, claim = difference(found["x"], found["y"])
    solver = z3.Solver()
    solver.add(z3.Not(claim))
    return not plain and solver.check() == z3.unsat


STORE = "store i32 {}, ptr addrspace(3) %q, align 4"
KEPT = STORE.format("%h")
OF_FLOATS = "%f = bitcast i32 %a to float; %g = {}; %h = bitcast float %g to i32; " + KEPT
FOUR_FURTHER = (
    "%r = getelementptr i8, ptr addrspace(3) %p, i32 4; ",
    "%c = add i32 %a, 4; %r = inttoptr i32 %c to ptr addrspace(3); ",
)
READ = "%h = load i32, ptr addrspace(3) %r, align 4; " + KEPT
PAIR = (
    "%w = insertelement <2 x i32> poison, i32 %a, i32 0; "
    "%x = insertelement <2 x i32> %w, i32 %b, i32 1; "
)
TRAP = (
    "%t = icmp eq i32 {}, 0; br i1 %t, label %x1, label %x2\nx1:; "
    "call void @llvm.trap(); br label %x2\nx2:"
)
LOADS = "%u = load i32, ptr addrspace(3) %p, align 4; %v = load i32, ptr addrspace(3) %q, align 4; "


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (STORE.format("%a"), STORE.format("%a")),
        (f"%h = add i32 %a, %b; {KEPT}", f"%h = add i32 %b, %a; {KEPT}"),
        (OF_FLOATS.format("fneg float %f"), f"%h = xor i32 %a, 2147483648; {KEPT}"),
        (f"{PAIR}%h = extractelement <2 x i32> %x, i32 1; {KEPT}", STORE.format("%b")),
        (FOUR_FURTHER[0] + READ, FOUR_FURTHER[1] + READ),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (STORE.format("%a"), STORE.format("%b")),
        (STORE.format("%a"), STORE.format("%a").replace("%q", "%p")),
        (STORE.format("%a"), STORE.format("%a").replace("align 4", "align 1")),
        (STORE.format("%a"), STORE.format("%a").replace("store", "store volatile")),
        (STORE.format("%a"), f"{STORE.format('%a')}; fence acquire"),
        (LOADS + STORE.format("%u"), LOADS + STORE.format("%v")),
        (
            LOADS + STORE.format("%u"),
            f"{'; '.join(LOADS.split('; ')[1::-1])}; {STORE.format('%u')}",
        ),
        # Of functions nothing is known.
        (OF_FLOATS.format("fadd float %f, %f"), OF_FLOATS.format("fmul float %f, %f")),
        # Undefined for counts beyond 31.
        (f"%h = shl i32 %a, %b; {KEPT}", f"%d = and i32 %b, 31; %h = shl i32 %a, %d; {KEPT}"),
        (TRAP.format("%a"), TRAP.format("%b")),
    ],
)
def test_not_the_same(one: str, other: str) -> None:
    assert not same(one, other)


def test_the_floating_point_mode_counts() -> None:
    text = STORE.format("%a")
    assert not same(text, text, ('"denormal-fp-math"="ieee"', '"denormal-fp-math"="preserve-sign"'))


@pytest.mark.parametrize(
    "body",
    [
        "%c = phi i32 [ %a, %entry ]",
        "switch i32 %a, label %x []",
        "call void @f(ptr addrspace(5) %R1)",
        "br label %entry",
    ],
)
def test_what_is_not_read_is_an_error(body: str) -> None:
    with pytest.raises(NotProvable):
        same(body, body)
