"""Matrix products of warpgroups: what NumPy computes and what an H100 computed, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, port
from tests.port.warpgroup.cases import Case, exact
from tests.port.warpgroup.forms import Form, all_forms
from tests.port.warpgroup.numbers import checksum
from tests.port.warpgroup.program import program
from tests.port.warpgroup.reference import result, without_signs_of_zeros

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

SOME = [
    Form(16, "f32", "f16", "f16"),
    Form(24, "f16", "f16", "f16", a_in_registers=True, negates_a=True, transposes_b=True),
    Form(16, "f32", "bf16", "bf16", negates_b=True, transposes_a=True, transposes_b=True),
    Form(256, "f32", "tf32", "tf32"),
    Form(8, "f32", "e4m3", "e5m2", a_in_registers=True),
    Form(32, "s32", "s8", "u8", saturates=True),
    Form(8, "s32", "b1", "b1"),
]


def wanted(case: Case) -> int:
    return checksum(without_signs_of_zeros(result(case), case.form))


def found(
    lifter: ContainerLifter, executable: Path, processor: str, section: int = 0
) -> dict[int, int]:
    """Case -> checksum, as the ported program prints them."""
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(executable), chosen)
    assert not ported.failures
    options = RunOptions(seconds=300, devices=(processor,))
    done = execute(ported, [str(section)], runtime_library(), options)
    assert (done.stderr_text, done.returncode) == ("", 0)
    rows = (line.split() for line in done.stdout_text.splitlines())
    return {int(number): int(plain, 16) for number, _, plain in rows}


@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
def test_products_are_what_numpy_computes(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str
) -> None:
    cases = list(exact(SOME))
    executable = build("warpgroups.cu", program({"exact": cases}), "sm_90a")
    assert found(lifter, executable, processor) == dict(enumerate(map(wanted, cases)))


@pytest.mark.slow
@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
def test_all_forms(lifter: ContainerLifter, build: Callable[..., Path], processor: str) -> None:
    cases = list(exact(all_forms()))
    executable = build("warpgroups.cu", program({"exact": cases}), "sm_90a")
    assert found(lifter, executable, processor) == dict(enumerate(map(wanted, cases)))
