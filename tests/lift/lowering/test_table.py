"""The table of forms, and the functions behind its truth tables."""

from __future__ import annotations

import pytest

from cass_ray.lift.form_evidence import is_covered
from cass_ray.lift.llvm.builder import FALSE, TRUE, i32
from cass_ray.lift.lowering.families import forms
from cass_ray.lift.lowering.semantics.logic import cheapest_expressions, restricted


@pytest.mark.parametrize(
    "mnemonic",
    ["FMUL.D4", "IADD3.X", "LDG.E.128.CONSTANT", "ISETP.GE.U32.AND.EX", "BRA", "CALL.REL.NOINC"],
)
def test_forms_that_ptxas_emits(mnemonic: str) -> None:
    assert is_covered(mnemonic)


@pytest.mark.parametrize("mnemonic", ["FMUL.D16", "IADD3.Y", "LDG.E.256", "UBLKCP", "WGMMA"])
def test_a_modifier_nobody_entered_is_no_form(mnemonic: str) -> None:
    assert not is_covered(mnemonic)


def test_effects_of_guards() -> None:
    table = forms()
    assert table["STG.E"].has_effect
    assert not table["IADD3"].has_effect


def test_every_function_of_three_inputs_is_computed() -> None:
    """Evaluate the chosen operations on the truth tables of the inputs themselves."""
    ways = cheapest_expressions()

    def value(table: int) -> int:
        name, left, right = ways[table]
        if name == "input":
            return table
        if name == "not":
            return value(left) ^ 0xFF
        a, b = value(left), value(right)
        return {"and": a & b, "or": a | b, "xor": a ^ b}[name]

    assert {table: value(table) for table in range(256) if value(table) != table} == {}


def test_common_functions_take_few_operations() -> None:
    ways = cheapest_expressions()
    assert ways[0xC0][0] == "and"  # a & b
    assert ways[0x96][0] == "xor"  # a ^ b ^ c
    assert ways[0x0F] == ("not", 0xF0, 0)


@pytest.mark.parametrize("table", [0xE8, 0x3C, 0xCA, 0x2A, 0x80])
def test_constant_inputs_restrict_a_truth_table(table: int) -> None:
    x = i32(5)
    for place, mask in enumerate((0xF0, 0xCC, 0xAA)):
        for constant, bit in ((i32(-1), 1), (i32(0), 0)):
            inputs = [x, x, x]
            inputs[place] = constant
            left = restricted(table, (inputs[0], inputs[1], inputs[2]))
            for index in range(8):
                chosen = index & ~(4 >> place) | (4 >> place if bit else 0)
                assert left >> index & 1 == table >> chosen & 1, (mask, index)
    assert restricted(0xE8, (TRUE, x, FALSE)) == 0xCC
