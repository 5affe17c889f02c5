"""Programs about one thing each: lifted, they print what clang's build of them does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from benchmarks.lift.cubins import compile_unit
from benchmarks.lift.generated import MODES
from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.corpus.reading.source_files import gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, execute
from cass_ray.lift import lift_cubin, names_for_host
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated

PROGRAMS = {
    "textures.cu": 22,
    "packed.cu": 32,
    "managed.cu": 3,
    "wide.cu": 8,
    "counters.cu": 80,
    "constants.cu": 3,
    "printing.cu": 16,
    "divisions.cu": 192,
    "function_table.cu": 16,
    "uniform_halves.cu": 30,
}
"""Lines that each of them prints."""


ON_OTHERS = [
    pytest.param("textures.cu", "gfx1201", marks=pytest.mark.slow),
    ("packed.cu", "gfx1201"),
    ("wide.cu", "gfx1201"),
    ("counters.cu", "gfx942"),
    ("printing.cu", "gfx942"),
]


def run(host: str, device: str, program: Path, target: str) -> str:
    library = runtime_library()
    find_amd().recombine(host, device, program, architecture=target, runtime_library=library)
    done = execute(program, (), library, RunOptions(seconds=60, devices=(target,)))
    assert done.ok, done.stderr_text
    return done.stdout_text


def assert_as_clang(
    name: str, target: str, compiled: Callable[[Unit], dict[str, bytes]], folder: Path
) -> None:
    """Lifted from what nvcc has ``compiled``, the program prints what clang's build does."""
    unit = Unit(Path(__file__).parent / "programs", PurePosixPath(name))
    sources = translated(gather(unit), make_translator())
    host = find_amd().compile(sources.write(folder / "hip"), target, optimization="-O3")
    expected = run(host.host_assembly, host.device_assembly, folder / "clang", target)
    assert expected.count("\n") == PROGRAMS[name]
    for architecture, cubin in compiled(unit).items():
        names = names_for_host(Cubin.parse(cubin), host.device_assembly)
        lifted = lift_cubin(cubin, target, names=names)
        found = run(host.host_assembly, lifted.assembly, folder / architecture, target)
        assert found.splitlines() == expected.splitlines(), architecture


def by_nvcc(*architectures: str) -> Callable[[Unit], dict[str, bytes]]:
    return lambda unit: find_nvidia().compile(unit, architectures).cubins


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    "architectures", [("sm_80", "sm_120"), pytest.param(("sm_90",), marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_output_is_that_of_clangs_build(
    name: str, architectures: tuple[str, ...], tmp_path: Path
) -> None:
    assert_as_clang(name, DEFAULT_AMD_ARCHITECTURE, by_nvcc(*architectures), tmp_path)


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    "architectures", [("sm_120",), pytest.param(("sm_80", "sm_90"), marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("name", "target"), ON_OTHERS)
def test_output_is_that_of_clangs_build_on_others(
    name: str, target: str, architectures: tuple[str, ...], tmp_path: Path
) -> None:
    assert_as_clang(name, target, by_nvcc(*architectures), tmp_path)


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    ("name", "architecture"), [("printing.cu", "sm_90"), ("function_table.cu", "sm_80")]
)
def test_code_for_debuggers(name: str, architecture: str, tmp_path: Path) -> None:
    """With ``-G`` the driver's functions are called by their names, and all functions are called.

    Only those whose addresses are somewhere are called through a register: another one may read
    literals that the kernel does not have.
    """

    def compiled(unit: Unit) -> dict[str, bytes]:
        cubins, message = compile_unit(find_nvidia(), unit, [architecture], MODES["G"])
        assert not message
        return cubins

    assert_as_clang(name, DEFAULT_AMD_ARCHITECTURE, compiled, tmp_path)
