"""What is reported of an instruction that cannot be lifted, and of a defect of the lifter."""

from __future__ import annotations

import pickle

import pytest

from cass_ray.lift.errors import LifterBug, UnknownForm
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.lift.lowering import table
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.module import LlvmModule, build

KERNEL = "_Z1kPf"


def lifted(*instructions: str) -> LlvmModule:
    text = "\n".join([".target sm_80", "", f"Function : {KERNEL}", *instructions, "EXIT"])
    return build(cubin_of(text), text)


@pytest.mark.parametrize(
    "error",
    [
        TypeError("planted"), IndexError("planted"), KeyError("planted"),
        AttributeError("planted"), ValueError("planted"),
    ],
)  # fmt: skip
def test_a_defect_is_not_an_unknown_instruction(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def planted(ctx: LoweringContext, i: DecodedInstruction) -> None:
        raise error

    lifted("POPC R2, R3")  # the table is complete, and without the defect it can be lifted
    monkeypatch.setitem(table._forms, "POPC", table.OpcodeForm("POPC", planted, has_effect=False))
    with pytest.raises(LifterBug) as found:
        lifted("MOV R3, RZ", "@P0 POPC R2, R3")
    assert found.value.__cause__ is error
    assert (found.value.kernel, found.value.address) == (KERNEL, 0x10)
    assert str(found.value) == f"{KERNEL} at 0x0010: @P0 POPC R2, R3: a defect of the lifter"
    again = pickle.loads(pickle.dumps(found.value))
    assert str(again) == str(found.value)


@pytest.mark.parametrize(
    "text",
    [
        "SEL R2, R3", "IADD3 R2, R3, R4", "POPC R2", "LEA R2, R3", "DSETP.GT.AND P0, PT, R2",
        "FFMA R2, R3, R4", "HADD2 R2, R3", "RET.REL.NODEC", "MOV R2, 1.5", "PLOP3.LUT P0, PT, PT",
        "HFMA2 R2, RZ, RZ, 1.5",
        "HADD2 R2, R3, 1.5, 0x4", "VOTEU.ALL", "ATOMS.CAS R2, [R4], R5", "LDSM.16.M88 R2, R3",
    ],
)  # fmt: skip
def test_operands_that_a_form_does_not_have_are_reported_as_such(text: str) -> None:
    error = lifted(text).failures[KERNEL]
    assert isinstance(error, UnknownForm)
    assert (error.kernel, error.address, error.text) == (KERNEL, 0, text)
