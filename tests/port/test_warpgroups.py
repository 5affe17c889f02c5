"""Matrix products of warpgroups: what an H100 computed, to the last bit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, port
from tests.port.warpgroup.cases import Case
from tests.port.warpgroup.forms import Form
from tests.port.warpgroup.numbers import checksum
from tests.port.warpgroup.program import everything, program
from tests.port.warpgroup.reference import result

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

HARDWARE = json.loads((Path(__file__).parent / "warpgroup" / "hardware.json").read_text())
SOME = [
    Form(16, "f32", "f16", "f16", transposes_a=True, transposes_b=True),
    Form(16, "f16", "f16", "f16", a_in_registers=True, negates_a=True),
    Form(16, "f32", "bf16", "bf16"),
    Form(256, "f32", "tf32", "tf32"),
    Form(16, "f32", "e4m3", "e4m3"),
    Form(16, "f16", "e5m2", "e5m2"),
    Form(16, "s32", "s8", "u8", saturates=True),
    Form(8, "s32", "b1", "b1"),
    Form(32, "f32", "f16", "f16", a_in_registers=True, transposes_b=True),
    Form(16, "f32", "f16", "f16", transposes_a=True, sparse=True, selector=1),
    Form(16, "f32", "tf32", "tf32", a_in_registers=True, sparse=True),
    Form(16, "f32", "e4m3", "e4m3", sparse=True),
    Form(16, "s32", "s8", "u8", saturates=True, sparse=True),
]
PROBES_TAKEN = 20
"""Every so manieth of the fast tests."""


def recorded() -> Iterator[tuple[str, Case, int]]:
    """Section, case and the H100's checksum."""
    for section, cases in everything().items():
        for case, printed in zip(cases, HARDWARE[section].split(), strict=True):
            yield section, case, int(printed, 16)


def found(lifter: ContainerLifter, executable: Path, processor: str, sections: int) -> list[int]:
    """Checksums that the ported program prints, in the order of its cases."""
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(executable), chosen)
    assert not ported.failures
    checksums: list[int] = []
    for section in range(sections):
        options = RunOptions(seconds=300, devices=(processor,))
        done = execute(ported, [str(section)], runtime_library(), options)
        assert (done.stderr_text, done.returncode) == ("", 0)
        checksums += [int(line.split()[1], 16) for line in done.stdout_text.splitlines()]
    return checksums


@pytest.mark.parametrize("processor", [pytest.param("gfx1100", marks=pytest.mark.slow), "gfx942"])
def test_some_products_are_an_h100s(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str
) -> None:
    """Whole numbers and rounded ones, infinities and NaN, descriptors of each kind."""
    taken = [
        (case, printed)
        for number, (section, case, printed) in enumerate(recorded())
        if case.form in SOME and (section != "probes" or number % PROBES_TAKEN == 0)
    ]
    cases = [case for case, _ in taken]
    executable = build("warpgroups.cu", program({"some": cases}), "sm_90a")
    assert found(lifter, executable, processor, 1) == [printed for _, printed in taken]


@pytest.mark.slow
@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
def test_all_products_are_an_h100s(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str
) -> None:
    sections = everything()
    executable = build("warpgroups.cu", program(sections), "sm_90a")
    wanted = [printed for _, _, printed in recorded()]
    assert found(lifter, executable, processor, len(sections)) == wanted


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.slow)])
def test_the_texts_say_what_an_h100_does(every: int) -> None:
    """Where nothing is rounded: PTX's fragments, cuTe's layouts, in NumPy."""
    exact = [each for each in recorded() if "rounded" not in each[0]]
    assert all(checksum(result(case)) == printed for _, case, printed in exact[::every])
