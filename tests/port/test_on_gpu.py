"""Programs of the tests as an Nvidia GPU ran them (``run_on_gpu``): lifted ones say the same."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest

from cass_ray.corpus.reading.source_files import gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.execute.backends.nvidia import NvidiaBackend
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, port
from cass_ray.toolchain.unit import Unit
from tests.port.run_on_gpu import PROGRAMS, recorded, source_digest, source_of


def runs(program: dict[str, Any]) -> list[dict[str, Any]]:
    """What each process of a program left."""
    found: list[dict[str, Any]] = program.get("parts", [program])
    return found


def test_all_programs_are_recorded() -> None:
    assert recorded().keys() == PROGRAMS.keys()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_record_is_of_the_program_as_it_is_now(name: str) -> None:
    assert recorded()[name]["source"] == source_digest(source_of(name))


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_was_wrong_on_the_gpu(name: str) -> None:
    assert [(each["code"], each["errors"]) for each in runs(recorded()[name]) if each["code"]] == []


@pytest.mark.slow
@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("name", PROGRAMS)
def test_lifted_programs_say_what_the_gpu_said(name: str, lifter: ContainerLifter) -> None:
    source = source_of(name)
    backend = NvidiaBackend(given_architecture=PROGRAMS[name])
    built = backend.build(gather(Unit(source.parent, PurePosixPath(source.name))))
    ported = port(read_executable(built.executable), lifter)
    assert not ported.failures
    done = execute(ported, [], runtime_library(), RunOptions(seconds=240))
    said = "".join(each["output"] for each in runs(recorded()[name]))
    assert (done.returncode, done.stdout_text) == (0, said)
