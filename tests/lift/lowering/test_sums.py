"""Terms of a sum that cancel each other."""

from __future__ import annotations

import pytest
import z3

from tests.lift.lowering.test_mbarrier import lifted
from tests.lift.proofs.symbolic import evaluate, kernels

# nvcc 13.0, sm_80: how much is left for a loop from R3 below R5 with a stride of R0.
_LEFT = (
    "IADD3 R2, R0, R3, RZ",
    "LOP3.LUT R7, RZ, R2, RZ, 0x33, !PT",
    "IADD3 R7, R7, R5, R0",
)


def left(last: str) -> str:
    return lifted(80, "gfx1100", *_LEFT[:-1], last, "STG.E [R14.64], R7", "EXIT")


def additions(made: str) -> int:
    """Those of words, one of which is `i + stride`."""
    return made.count(" = add i32 ")


@pytest.mark.parametrize("terms", ["R7, R5, R0", "R0, R5, R7", "R5, R7, R0", "R7, R3, R5"])
def test_what_is_added_and_taken_away_again_is_left_out(terms: str) -> None:
    assert additions(left(f"IADD3 R7, {terms}")) == 2


@pytest.mark.parametrize("terms", ["R7, R5, -R0", "R2, R5, R0", "R7, R5, R12"])
def test_other_terms_stay(terms: str) -> None:
    assert additions(left(f"IADD3 R7, {terms}")) == 3


@pytest.mark.parametrize("terms", ["R7, R5, R0", "R0, R5, R7", "R7, R3, R5", "R7, R5, R5"])
def test_the_sum_is_proven(terms: str) -> None:
    (body,) = kernels(left(f"IADD3 R7, {terms}")).values()
    (store,) = evaluate(body).stores
    registers = {f"R{n}": z3.BitVec(f"R{n}", 32) for n in (0, 3, 5)}
    registers["R7"] = ~(registers["R0"] + registers["R3"])
    solver = z3.Solver()
    solver.add(store.value != sum(registers[name] for name in terms.split(", ")))
    assert solver.check() == z3.unsat
