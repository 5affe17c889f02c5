"""A kernel is lowered once, by a graph for which its instructions are only read."""

from __future__ import annotations

import re

import pytest

from cass_ray.lift.errors import LifterBug
from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.lowering import form_accesses
from cass_ray.lift.lowering.flow.block_bodies import InstructionLowering
from cass_ray.lift.lowering.flow.calls import MOST_COPIES
from cass_ray.lift.lowering.table import OpcodeForm
from tests.lift.lowering.test_mbarrier import lifted


def kernel(calls: int) -> list[str]:
    """Stores ``calls`` square roots by a subroutine of two blocks, in R4 in and out."""
    body = ["S2R R4, SR_TID.X"]
    for number in range(calls):
        body += [f"MOV R8, {16 * (len(body) + 2):#x}", "CALL.REL.NOINC `($sub)"]
        body += [f"STG.E [R2.64+{4 * number:#x}], R4"]
    body += ["EXIT", "$sub:", "MUFU.SQRT R4, R4", "ISETP.NE.AND P0, PT, R4, RZ, PT"]
    body += ["@!P0 BRA `(.L_x_1)", "FADD R4, R4, 1", ".L_x_1:", "MOV R9, 0x0"]
    return [*body, "RET.REL.NODEC R8 `(_Z1kPf)"]


@pytest.mark.parametrize("calls", [2, 7, MOST_COPIES + 1])
def test_a_body_is_lowered_once_for_each_copy(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    roots: list[DecodedInstruction] = []
    lower = InstructionLowering._apply

    def apply(
        self: InstructionLowering,
        code: CodeSection,
        forms_of_run: list[tuple[DecodedInstruction, OpcodeForm]],
    ) -> None:
        roots.extend(i for i, _ in forms_of_run if i.opcode == "MUFU")
        lower(self, code, forms_of_run)

    monkeypatch.setattr(InstructionLowering, "_apply", apply)
    text = lifted(80, "gfx1100", *kernel(calls))
    copies = len(re.findall(r"= call float [^\n]*sqrt", text))
    assert copies == (calls if calls <= MOST_COPIES else 1)
    assert len(roots) == copies


@pytest.mark.parametrize(
    ("make", "branch", "goes_on"),
    [
        ("PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0", "@P0 BRA `(.L_1)", False),  # all three hold
        ("PLOP3.LUT P0, PT, PT, PT, PT, 0x8, 0x0", "@!P0 BRA `(.L_1)", False),
        ("UPLOP3.LUT UP0, UPT, UPT, UPT, UPT, 0x80, 0x0", "@UP0 BRA `(.L_1)", False),
        ("ATOM.E.ADD.64.STRONG.GPU P0, RZ, [R2.64], R8", "@P0 BRA `(.L_1)", False),  # it is done
        ("PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0", "@!P0 BRA `(.L_1)", True),
        ("PLOP3.LUT P0, PT, P1, PT, PT, 0x80, 0x0", "@P0 BRA `(.L_1)", True),
        ("ISETP.EQ.AND P0, PT, R4, RZ, PT", "@P0 BRA `(.L_1)", True),
    ],
)
def test_a_branch_on_a_constant_leads_to_one_block(make: str, branch: str, goes_on: bool) -> None:
    """The block behind has a form that the table lacks: whoever comes to it is told so."""
    text = lifted(80, "gfx1100", make, branch, "NOSUCH R4", "EXIT", ".L_1:", "EXIT")
    assert ("NOSUCH" in text) == goes_on
    assert ("define" in text) != goes_on


def test_an_instruction_that_touches_more_than_its_form_is_a_defect_with_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The table is checked where it is used."""
    monkeypatch.setattr(form_accesses, "_names", lambda touched, numbers: set())
    with pytest.raises(LifterBug, match=r"_Z1kPf at 0x0000: FADD R5, R6, R7"):
        lifted(80, "gfx1100", "FADD R5, R6, R7", "EXIT")
