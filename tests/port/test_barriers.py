"""Barriers in shared memory, bulk copies, and warps that wait for each other's words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, port
from cass_ray.toolchain.sandbox.process import Completed

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]


def run(lifter: ContainerLifter, executable: Path, processor: str) -> Completed:
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(executable), chosen)
    assert not ported.failures
    options = RunOptions(seconds=120, devices=(processor,))
    return execute(ported, [], runtime_library(), options)


@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_barriers_do_what_the_ptx_isa_says(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str, processor: str
) -> None:
    """The program knows each state of a barrier and each number that a kernel gives."""
    done = run(lifter, build("barriers.cu", architecture=architecture), processor)
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_words_of_shared_memory_are_loaded_again(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str
) -> None:
    done = run(lifter, build("flags.cu", architecture=architecture), "gfx1100")
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)
