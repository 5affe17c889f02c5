"""The runtime and the toolchain to build programs with; skipped where there is no clang."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, build, execute
from cass_ray.toolchain.amd.toolchain import DEFAULT_ARCHITECTURE, AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.process import Completed
from cass_ray.toolchain.unit import Unit

PROGRAMS = Path(__file__).parent / "programs"

RunProgram = Callable[..., Completed]


@pytest.fixture(scope="session")
def toolchain() -> AmdToolchain:
    if not isolation.available():
        pytest.skip(isolation.problem())
    try:
        return find_amd()
    except ToolMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def library(toolchain: AmdToolchain) -> Path:
    return runtime_library()


@pytest.fixture(scope="session")
def run_program(toolchain: AmdToolchain, library: Path) -> RunProgram:
    """Build one of the programs beside this file (cached by content) and run it."""

    def build_and_run(
        name: str,
        arguments: Sequence[str] = (),
        options: RunOptions | None = None,
        architecture: str = DEFAULT_ARCHITECTURE,
        further: Sequence[str] = (),
    ) -> Completed:
        sources = gather(Unit(PROGRAMS, PurePosixPath(name)))
        executable = build(
            sources,
            toolchain,
            library,
            architecture=architecture,
            further=further,
            optimization="-O1",
        )
        options = options or RunOptions(seconds=60, compiler=toolchain)
        return execute(executable, arguments, library, options)

    return build_and_run
