"""CUDA executables to port; skipped where a compiler or the sandbox is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import Sources, gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.execute.backends.nvidia import NvidiaBackend
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, port
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.process import Completed
from cass_ray.toolchain.unit import Unit

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def lifter() -> ContainerLifter:
    if not isolation.available():
        pytest.skip(isolation.problem())
    try:
        return ContainerLifter(find_nvidia(), find_amd())
    except ToolMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def build(lifter: ContainerLifter) -> Callable[..., Path]:
    """nvcc's executable of a program beside this file, or of a text; cached by content."""

    def compile_program(name: str, text: str = "", architecture: str = "sm_80") -> Path:
        main = PurePosixPath(name)
        sources = Sources(main, {name: text.encode()}) if text else gather(Unit(PROGRAMS, main))
        return NvidiaBackend(given_architecture=architecture).build(sources).executable

    return compile_program


@pytest.fixture(scope="session")
def run_ported(lifter: ContainerLifter, build: Callable[..., Path]) -> Callable[..., Completed]:
    """Build a CUDA program, port the executable, run it."""

    def build_and_run(name: str, text: str = "", architecture: str = "sm_80") -> Completed:
        ported = port(read_executable(build(name, text, architecture)), lifter)
        assert not ported.failures
        return execute(ported, [], runtime_library(), RunOptions(seconds=60))

    return build_and_run
