"""Copies of tiles by tensor maps, which the program compares with what the texts say."""

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


@pytest.mark.parametrize("processor", [pytest.param("gfx1100", marks=pytest.mark.slow), "gfx942"])
def test_tiles_arrive_as_the_texts_say(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str
) -> None:
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(build("tensor_maps.cu", architecture="sm_90a")), chosen)
    assert not ported.failures
    options = RunOptions(seconds=120, devices=(processor,))
    done = execute(ported, [], runtime_library(), options)
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)


@pytest.mark.parametrize("processor", ["gfx1100", pytest.param("gfx942", marks=pytest.mark.slow)])
def test_pixels_are_those_that_convolutions_need(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str
) -> None:
    """The program works out each output pixel's window of a padded image."""
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(build("pixels.cu", architecture="sm_90a")), chosen)
    assert not ported.failures
    options = RunOptions(seconds=120, devices=(processor,))
    done = execute(ported, [], runtime_library(), options)
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)
