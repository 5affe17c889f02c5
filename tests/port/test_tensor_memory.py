"""Tensor memory and products whose sums are there: programs that work each number out on the host.

No machine of sm_100 has run them: what they expect is by the texts (PTX ISA; cuTe's layouts).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, port

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]


@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("tensor_memory.cu", ""),
        ("tensor_scales.cu", "scaled products: 0 of 6 wrong\n"),
        pytest.param("tensor_products.cu", "products: 0 of 47 wrong\n", marks=pytest.mark.slow),
    ],
)
def test_programs_of_tensor_memory(
    lifter: ContainerLifter, build: Callable[..., Path], program: str, wanted: str, processor: str
) -> None:
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(build(program, architecture="sm_100a")), chosen)
    assert not ported.failures
    options = RunOptions(seconds=300, devices=(processor,))
    done = execute(ported, [], runtime_library(), options)
    assert (done.stdout_text, done.stderr_text, done.returncode) == (wanted, "", 0)
