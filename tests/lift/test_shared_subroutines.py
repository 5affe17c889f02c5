"""Subroutines of one copy: lanes that call one together return together, whatever they do in it."""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from benchmarks.lift.cubins import compile_unit
from benchmarks.lift.generated import MODES
from cass_ray.bench.task import TASKS_FOLDER
from cass_ray.corpus.reading.source_files import gather as gather_sources
from cass_ray.lift import LiftError, lift_cubin, names_for_host
from cass_ray.lift.llvm import emit
from cass_ray.lift.lowering.flow import calls
from cass_ray.toolchain.amd.spilled_lanes import shared_registers
from cass_ray.toolchain.amd.toolchain import AmdOutput
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated
from tests.lift.test_programs import run

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

VIRTUAL = "data_structures/expression_trees_virtual"
"""A task whose program checks its results against the host's."""
PLUGINS = "utility_system/virtual_shape_plugins"
THROUGH_TABLE = "dynamics/population_models_pointer_table"
PROGRAM = Unit(Path(__file__).parent / "programs", PurePosixPath("shared_subroutines.cu"))
THREADS, LEFT = 96, 80
STEPS = (1, 2, 1, 3)
TARGETS = ("gfx1100", "gfx942")

RECURSIVE = """
__device__ __noinline__ int down(int* values, int n) {
    __syncthreads();
    values[threadIdx.x] += n;
    return n == 0 ? values[threadIdx.x ^ 1] : down(values, n - 1) + 1;
}
__global__ void both(int* out, int n) {
    __shared__ int values[64];
    out[threadIdx.x] = down(values, n);
}
int main() { return 0; }
"""
"""A barrier in a subroutine that calls itself."""


def halvings(n: int) -> int:
    count = 0
    while n > 0:
        n = n - 3 if n & 1 else n // 2
        count += 1
    return count


def depth(n: int) -> int:
    return 0 if n <= 0 else 1 + depth(n - STEPS[n & 3])


def meet() -> list[int]:
    sums = []
    for t in range(THREADS):
        total = 0
        for round_ in range(1 + t % 5):
            if STEPS[1] != round_:
                total += sum(halvings(t + turn) for turn in range(t % 3))
            total += halvings(t * 7 + round_) + depth((t * 7 + round_) % 23)
        sums.append(total)
    whole = sum((sums[k] + halvings(k)) * (k + 1) for k in range(THREADS))
    return [whole + sums[t ^ 5] + depth((t ^ 5) % 11) for t in range(THREADS)]


def gather() -> list[int]:
    def read_all(values: list[int]) -> int:
        return sum(value * (k + 1) for k, value in enumerate(values))

    values = [halvings(5 * t) + STEPS[t & 3] if t < LEFT else 1 for t in range(THREADS)]
    first = read_all(values)
    values = [first % (halvings(t) + 2) if t < LEFT else 1 for t in range(THREADS)]
    return [read_all(values) if t < LEFT else 0 for t in range(THREADS)]


def compiled(unit: Unit, mode: str, architecture: str = "sm_90") -> bytes:
    cubins, message = compile_unit(find_nvidia(), unit, [architecture], MODES[mode])
    assert not message
    return cubins[architecture]


@cache
def host(target: str, folder: Path) -> AmdOutput:
    sources = translated(gather_sources(PROGRAM), make_translator())
    return find_amd().compile(sources.write(folder / f"hip-{target}"), target, optimization="-O1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared_subroutines")


@pytest.mark.parametrize(
    ("mode", "copies"),
    [
        ("O0", 0),
        ("G", calls.MOST_COPIES),
        pytest.param("O0", calls.MOST_COPIES, marks=pytest.mark.slow),
        pytest.param("G", 0, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("target", TARGETS)
def test_lanes_meet_again(
    target: str, mode: str, copies: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are functions, or those that recurse; of one with barriers 64 lanes need copies."""
    monkeypatch.setattr(calls, "MOST_COPIES", copies)
    made, cubin = host(target, folder), compiled(PROGRAM, mode)
    names = names_for_host(Cubin.parse(cubin), made.device_assembly)
    lifted = lift_cubin(cubin, target, names=names)
    program = folder / f"{target}-{mode}-{copies}"
    printed = run(made.host_assembly, lifted.assembly, program, target)
    assert [int(line) for line in printed.split()] == [*meet(), *gather()]


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_80", "sm_120"])
@pytest.mark.parametrize("target", TARGETS)
def test_virtual_functions_that_recurse(
    target: str, architecture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LLVM 19 spilled scalar registers to lanes of vector registers that lanes had values in.

    That is seen in its code, and code in which it is seen is not taken.
    The program ends with an error where its results are not the host's.
    """
    unit = Unit(TASKS_FOLDER / VIRTUAL, PurePosixPath("main.cu"))
    sources = translated(gather_sources(unit), make_translator())
    made = find_amd().compile(sources.write(tmp_path / "hip"), target, optimization="-O1")
    cubin = compiled(unit, "O3", architecture)
    names = names_for_host(Cubin.parse(cubin), made.device_assembly)
    lifted = lift_cubin(cubin, target, names=names)
    printed = run(made.host_assembly, lifted.assembly, tmp_path / "program", target)
    assert "trees 50, largest 27" in printed
    assert not list(shared_registers(lifted.assembly))
    monkeypatch.setattr(calls, "MOST_CHOICES", 1000)  # with calls by pointers it has no reason to
    ours = [option for option in emit._WITH_FUNCTIONS if option != "-enable-ipra=0"]
    monkeypatch.setattr(emit, "_WITH_FUNCTIONS", tuple(ours))
    monkeypatch.setattr(emit, "right_code", lambda version, make, refusal: (*make(()), ()))
    assert list(shared_registers(lift_cubin(cubin, target, names=names).assembly))


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_80", "sm_120"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("choices", "fewest"), [(calls.MOST_CHOICES, 30), (1000, 100)])
def test_functions_keep_scalars_in_registers(
    target: str, architecture: str, choices: int, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of twenty that live across a call none goes to memory: they did, in ten instructions each.

    Called by pointers, and each by its name.
    """
    monkeypatch.setattr(calls, "MOST_CHOICES", choices)
    cubin = compiled(Unit(TASKS_FOLDER / PLUGINS, PurePosixPath("main.cu")), "O3", architecture)
    lines = lift_cubin(cubin, target).assembly.splitlines()
    calls_of_functions = sum("s_swappc_b64" in line for line in lines)
    to_memory = sum("s_mov_b32 exec_lo, 1" in line or "s_mov_b64 exec, 1" in line for line in lines)
    assert calls_of_functions > fewest
    assert to_memory == 0


@pytest.mark.parametrize("target", TARGETS)
def test_what_subroutines_save_stays_in_registers(target: str) -> None:
    """Called through a table they save registers on the stack; no copy of one needs memory."""
    unit = Unit(TASKS_FOLDER / THROUGH_TABLE, PurePosixPath("main.cu"))
    cubin = compiled(unit, "O3", "sm_80")
    assert "STL" in find_nvidia().disassemble([cubin])[0]
    assert "scratch_" not in lift_cubin(cubin, target).assembly


def test_turns_that_end_in_recursion_are_refused(tmp_path: Path) -> None:
    """Where the warps of a wave run in turns, a barrier ends one."""
    (tmp_path / "recursive.cu").write_text(RECURSIVE)
    unit = Unit(tmp_path, PurePosixPath("recursive.cu"))
    cubin = compiled(unit, "O0")
    with pytest.raises(LiftError, match="calls itself, and a barrier"):
        lift_cubin(cubin, "gfx942")
    assert lift_cubin(cubin, "gfx1100").instructions
