"""What instructions read and write, against the PTX ISA's operands of what they are compiled from.

A PTX register of 64 bits is a pair in SASS, one of 128 four; the guard is read by itself.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from cass_ray.lift.analysis.liveness import RegisterAccess
from cass_ray.lift.convergence.schedule import WaveSchedule
from cass_ray.lift.frontend import cubin as reading
from cass_ray.lift.frontend.code import CubinCode
from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.lift.llvm.globals import DeviceData
from cass_ray.lift.lowering import form_accesses
from cass_ray.lift.lowering.environment import KernelEnvironment
from cass_ray.lift.lowering.families import forms
from cass_ray.lift.lowering.flow.calls import CallPlan
from cass_ray.lift.lowering.flow.control_flow import kernel_graph
from cass_ray.lift.lowering.form_accesses import FormAccesses
from cass_ray.lift.lowering.target import lift_target
from cass_ray.lift.module import kernel_environment
from cass_ray.toolchain.nvidia.elf import Cubin
from tests.lift.lowering.test_mbarrier import KERNEL


def environment_of(
    architecture: int, target: str, instructions: tuple[str, ...]
) -> KernelEnvironment:
    text = "\n".join([f".target sm_{architecture}", "", f"Function : {KERNEL}", *instructions])
    cubin = cubin_of(text)
    assert isinstance(cubin, Cubin)
    program = CubinCode(text)
    data = DeviceData(cubin, program.code_number)
    kernel = reading.kernel_info(cubin, KERNEL)
    return kernel_environment(program, data, kernel, lift_target(target))


def accesses(architecture: int, *instructions: str) -> list[RegisterAccess]:
    """What instructions of a kernel touch, by its graph."""
    environment = environment_of(architecture, "gfx1100", instructions)
    graph, _ = kernel_graph(environment, WaveSchedule(), CallPlan())
    return [access for _, access in graph.blocks[graph.entry].accesses]


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("FADD R5, R6, R7", "R6 R7", "R5"),  # add.f32
        ("FADD R5, R5, R5", "R5", "R5"),
        ("FADD R5, -R6, |R7|", "R6 R7", "R5"),
        ("IADD3 R4, P0, PT, R5, R6, RZ", "R5 R6", "R4 P0"),  # add.cc.u32
        ("IADD3.X R4, PT, PT, R5, R6, RZ, P0, !PT", "R5 R6 P0", "R4"),  # addc.u32
        ("IMAD.WIDE R2, R4, 0x4, R6", "R4 R6 R7", "R2 R3"),  # mad.wide.s32
        ("DADD R2, R4, R6", "R4 R5 R6 R7", "R2 R3"),  # add.f64
        ("LDG.E.128 R4, desc[UR4][R2.64]", "R2 R3", "R4 R5 R6 R7"),  # ld.global.v4.u32
        ("LDG.E R4, desc[UR4][R2.64+0x10]", "R2 R3", "R4"),
        ("STG.E.64 desc[UR4][R2.64], R8", "R2 R3 R8 R9", ""),  # st.global.v2.u32
        ("ISETP.LT.AND P1, PT, R4, R5, P0", "R4 R5 P0", "P1"),  # setp.lt.and.s32
        ("SEL R4, R5, R6, !P2", "R5 R6 P2", "R4"),  # selp.b32
        ("MOV R4, RZ", "", "R4"),
        ("FADD RZ, R6, R7", "R6 R7", ""),
        ("S2R R9, SR_TID.X", "", "R9"),  # mov.u32 %r, %tid.x
        ("LOP3.LUT R0, R1, R2, R3, 0x96, !PT", "R1 R2 R3", "R0"),  # lop3.b32
        ("IMAD R0, R1, UR6, R3", "R1 UR6 R3", "R0"),
        ("R2P PR, R5, 0x5", "R5", "P0 P2"),  # bits 0 and 2 of the mask
    ],
)
def test_registers_are_those_of_the_operands(text: str, reads: str, writes: str) -> None:
    (access, _) = accesses(90, text, "EXIT")
    assert access == RegisterAccess(None, set(reads.split()), set(writes.split()))


def test_a_form_is_the_same_with_other_registers_and_other_forms_are_not() -> None:
    """The second of each pair is looked up, in kernels of any number."""
    for numbers in ((10, 20, 30), (30, 10, 10), (0, 254, 1)):
        target, left, right = (f"R{each}" for each in numbers)
        plain, guarded, other, _ = accesses(
            90,
            f"IADD3 {target}, {left}, {right}, RZ",
            f"@!P3 IADD3 {target}, {left}, {right}, RZ",
            f"IADD3 {target}, {left}, 0x1, {right}",
            "EXIT",
        )
        assert plain == other == RegisterAccess(None, {left, right}, {target})
        assert guarded == RegisterAccess(("P3", True), {left, right}, {target})


@pytest.mark.parametrize("mask", [0x0, 0x1, 0x7F, 0x42])
def test_a_literal_that_names_predicates_is_part_of_the_form(mask: int) -> None:
    (access, _) = accesses(90, f"R2P PR, R5, {mask:#x}", "EXIT")
    assert access.writes == {f"P{n}" for n in range(7) if mask >> n & 1}


def test_a_bank_that_is_indexed_by_a_constant_is_read_with_the_values_of_its_block() -> None:
    """ptxas 13 for sm_120; 0x360 is blockDim.x, and an index alone no constant of the driver."""
    move, load, _ = accesses(120, "UMOV UR4, 0x108", "LDCU UR5, c[0x0][UR4+0x258]", "EXIT")
    assert move == RegisterAccess(None, set(), {"UR4"})
    assert load == RegisterAccess(None, {"UR4"}, {"UR5"})


@pytest.mark.parametrize("first", [32, 1024])
def test_kernels_of_another_kind_have_forms_of_their_own(first: int) -> None:
    """In blocks of 32 threads half of a wave of 64 is empty: there is no second way of a product.

    Whichever kernel is lowered first, each has its own blocks of LLVM: outlines depend on them.
    """
    product = "HMMA.16816.F32 R4, R8, R12, R4"
    labels = {}
    for threads in (first, 1056 - first):
        environment = environment_of(80, "gfx942", (product, "EXIT"))
        kernel = replace(environment.kernel, max_threads=threads)
        environment = replace(
            environment,
            kernel=kernel,
            target=replace(environment.target, multiplies_floats_natively=True),
        )
        code = environment.program.code(KERNEL)
        i = code.instructions[0]
        facts = FormAccesses(environment, WaveSchedule()).of(code, i, forms()[i.mnemonic].semantics)
        assert facts.access.writes == {"R4", "R5", "R6", "R7"}
        assert facts.access.reads == {f"R{n}" for n in (4, 5, 6, 7, 8, 9, 10, 11, 12, 13)}
        labels[threads] = facts.labels
    assert labels[32] == 0 < labels[1024]


def test_a_process_keeps_no_more_forms_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each literal makes a form: a service that lifts for days would keep all of them."""
    monkeypatch.setattr(form_accesses, "_MOST_FORMS", 8)
    moves = [f"MOV R{n}, {0xC0DE0000 + n:#x}" for n in range(40, 70)]
    environment = environment_of(80, "gfx1100", (*moves, "EXIT"))
    table = FormAccesses(environment, WaveSchedule())
    code = environment.program.code(KERNEL)
    for n, i in enumerate(code.instructions[:-1], 40):
        facts = table.of(code, i, forms()[i.mnemonic].semantics)
        assert facts.access == RegisterAccess(None, set(), {f"R{n}"})
        assert len(table._forms) <= 8
