"""What a first lifting of a kernel has shown of a block is not asked again."""

from __future__ import annotations

import re

import pytest

from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Predicate
from cass_ray.lift.lowering.flow.block_bodies import InstructionLowering
from cass_ray.lift.lowering.flow.calls import MOST_COPIES
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
def test_a_body_is_lifted_once_and_then_for_each_copy(
    calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots: list[DecodedInstruction] = []
    lift = InstructionLowering.run

    def run(
        self: InstructionLowering,
        code: CodeSection,
        guard: Predicate | None,
        run: list[DecodedInstruction],
    ) -> None:
        roots.extend(i for i in run if i.opcode == "MUFU")
        lift(self, code, guard, run)

    monkeypatch.setattr(InstructionLowering, "run", run)
    made = lifted(80, "gfx1100", *kernel(calls))
    copies = len(re.findall(r"= call float [^\n]*sqrt", made))
    assert copies == (calls if calls <= MOST_COPIES else 1)
    assert len(roots) == 1 + copies
