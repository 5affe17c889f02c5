"""Generated programs that nvcc does not optimize, lifted: the generator knows their output."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from benchmarks.lift.cubins import compile_unit
from benchmarks.lift.generated import AGREES, DRAWN, MODES, measure, rotated
from benchmarks.lift.programs import LiftingRun
from cass_ray.config import load, parse_overrides
from cass_ray.corpus.generate.options import GeneratorOptions
from cass_ray.corpus.generate.program import GeneratedProgram, generate
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.unit import Unit

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

_OTHERS = (
    "exchange",
    "reduction",
    "scan",
    "histogram",
    "shuffle",
    "warp_reduction",
    "partial_warp",
    "lane_groups",
)
_SMALL = (
    *("kernels=[1,1]", "statements=[3,4]", "nesting=1", "mathematics=0", "collective=1"),
    *(f"collectives.{name}=0" for name in _OTHERS),
)
"""GeneratorOptions: one kernel with votes."""


@pytest.fixture
def bench(tmp_path: Path) -> LiftingRun:
    if not isolation.available():
        pytest.skip(isolation.problem())
    try:
        return LiftingRun(find_amd(), find_nvidia(), runtime_library(), RunOptions(), tmp_path)
    except ToolMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def program() -> GeneratedProgram:
    (made,) = generate(1, 5, load(GeneratorOptions, None, parse_overrides(list(_SMALL))))
    return made


@pytest.mark.parametrize("mode", ["O0", pytest.param("G", marks=pytest.mark.slow)])
def test_unoptimized_code(
    bench: LiftingRun, program: GeneratedProgram, mode: str, tmp_path: Path
) -> None:
    """It checks its stack pointer, and gathers the lanes of a vote, on its ordinary path."""
    (tmp_path / "program.cu").write_text(program.source)
    unit = Unit(tmp_path, PurePosixPath("program.cu"))
    cubins, message = compile_unit(bench.nvidia, unit, ["sm_90"], MODES[mode])
    assert not message
    (listing,) = bench.nvidia.disassemble([cubins["sm_90"]])
    assert "SR_LMEMHIOFF" in listing
    assert "WARPSYNC.COLLECTIVE" in listing
    rows = list(measure(bench, program, [("sm_90", mode)]))
    assert [(row.state, row.detail) for row in rows] == [(AGREES, "")]


@pytest.mark.parametrize("architecture", ["sm_80", "sm_120"])
def test_groups_of_lanes_at_one_place(bench: LiftingRun, architecture: str) -> None:
    """Each votes and reduces with a mask of its own."""
    changed = [each.replace("lane_groups=0", "vote=0") for each in _SMALL]
    (program,) = generate(1, 1, load(GeneratorOptions, None, parse_overrides(changed)))
    assert "_sync(0x" in program.source
    rows = list(measure(bench, program, [(architecture, "O3")]))
    assert [(row.state, row.detail) for row in rows] == [(AGREES, "")]


@pytest.mark.parametrize("architecture", ["sm_80", "sm_120"])
def test_lanes_of_two_branches_exchange_as_one(bench: LiftingRun, architecture: str) -> None:
    """Whole warps shuffle and vote in both branches of an ``if``."""
    changed = [*_SMALL, "collectives.vote=0", "collectives.lanes_apart=1"]
    (program,) = generate(1, 1, load(GeneratorOptions, None, parse_overrides(changed)))
    assert program.source.count("_sync(0xffffffffu") > 1
    rows = list(measure(bench, program, [(architecture, "O3")]))
    assert [(row.state, row.detail) for row in rows] == [(AGREES, "")]


def test_rotations_share_the_combinations() -> None:
    ways = [(architecture, mode) for mode in MODES for architecture in ("sm_80", "sm_90", "sm_120")]
    of_one_program = [rotated(ways, 7, rotation)[0] for rotation in range(12)]
    of_one_rotation = [rotated(ways, number, 5)[0] for number in range(12)]
    assert sorted(of_one_program) == sorted(of_one_rotation) == sorted(ways)
    assert rotated(ways, 7, None) == ways


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "architecture"),
    [
        (86, "sm_120"),  # a return with a condition beside its guard
        (133, "sm_90"),  # a guarded constant at an index that is nothing where the guard is false
        (1425, "sm_80"),  # a dividend that is a small negative number, unsigned
        (1497, "sm_80"),  # I2F.U64 of a literal
    ],
)
def test_programs_that_were_wrong(bench: LiftingRun, number: int, architecture: str) -> None:
    # They were drawn before there were groups of lanes, and lanes apart.
    without = ("collectives.lane_groups=0", "collectives.lanes_apart=0")
    knobs = load(GeneratorOptions, None, parse_overrides([*DRAWN, *without]))
    (program,) = generate(1, 26, knobs, first=number)
    rows = list(measure(bench, program, [(architecture, "O3")]))
    assert [(row.state, row.detail) for row in rows] == [(AGREES, "")]
