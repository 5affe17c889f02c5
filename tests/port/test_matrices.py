"""Products of the tensor cores by AMD's matrix instructions: whole numbers, exact in any order."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands.port import app
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.lift import lift_cubin
from cass_ray.port.executable import read_executable
from cass_ray.port.fatbin import cubins
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, port

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

INSTRUCTION = {"gfx1100": "v_wmma_", "gfx1201": "v_wmma_", "gfx90a": "v_mfma_", "gfx942": "v_mfma_"}


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(
    "processor",
    [
        "gfx1100",
        "gfx942",
        pytest.param("gfx1201", marks=pytest.mark.slow),  # each of their instructions: test_vectors
        pytest.param("gfx90a", marks=pytest.mark.slow),
    ],
)
def test_products_are_the_hosts(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str, native: bool
) -> None:
    """Also of one warp of two in a wave, and of a wave that is half empty: ``alone``."""
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor, native_matrices=native)
    ported = port(read_executable(build("matrices.cu")), chosen)
    assert not ported.failures
    named = {name for made in ported.lifted for name in made.native_matrices}
    uses = [part for part in ("halves", "doubles", "multiply", "alone") if part in " ".join(named)]
    has_doubles = INSTRUCTION[processor] == "v_mfma_"
    assert uses == (["halves", *["doubles"] * has_doubles] if native else [])
    done = execute(ported, [], runtime_library(), RunOptions(seconds=60, devices=(processor,)))
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)


@pytest.mark.parametrize(
    ("architecture", "processor"),
    [
        ("sm_89", "gfx942"),
        ("sm_120", "gfx1100"),
        pytest.param("sm_89", "gfx1100", marks=pytest.mark.slow),
        pytest.param("sm_120", "gfx942", marks=pytest.mark.slow),
    ],
)
def test_products_of_eight_bit_floats_are_the_hosts(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str, processor: str
) -> None:
    """Each number of E4M3 and E5M2 once in A and once in B, and sums that have few bits."""
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(build("small_matrices.cu", architecture=architecture)), chosen)
    assert not ported.failures
    done = execute(ported, [], runtime_library(), RunOptions(seconds=60, devices=(processor,)))
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("0 wrong\n", "", 0)


ONE_WARP = r"""
#define MULTIPLY(c, a, b)                                                                       \
  asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"          \
      : "+r"(c[0]), "+r"(c[1]) : "r"(a), "r"(b))
__global__ void __launch_bounds__(32) bounded(int *o) {
  int c[2] = {}; MULTIPLY(c, o[0], o[1]); o[2] = c[0] + c[1]; }
int main() {}
"""


def test_half_empty_waves_have_no_matrix_instructions(
    lifter: ContainerLifter, build: Callable[..., Path]
) -> None:
    """A kernel whose blocks are known to have one warp would never come to them on CDNA."""
    executable = read_executable(build("one_warp.cu", ONE_WARP))
    found = [c for c in executable.containers if not c.is_empty]
    images = [image for each in found for image in cubins(each, lifter.nvidia)[80]]
    for processor, instruction in INSTRUCTION.items():
        text = "".join(lift_cubin(image, processor).assembly for image in images)
        assert (instruction in text) == (instruction == "v_wmma_")


@pytest.mark.parametrize(
    "processor",
    [
        "gfx1100",
        pytest.param("gfx1201", marks=pytest.mark.slow),
        pytest.param("gfx90a", marks=pytest.mark.slow),
        "gfx942",
    ],
)
def test_integers_always_go_to_the_matrix_unit(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str
) -> None:
    """Floating-point numbers do so if it is asked for."""
    containers = [c for c in read_executable(build("matrices.cu")).containers if not c.is_empty]
    images = [image for each in containers for image in cubins(each, lifter.nvidia)[80]]

    def lifted(native: bool) -> str:
        made = [lift_cubin(image, processor, native_matrices=native) for image in images]
        return "".join(each.assembly for each in made)

    plain, instruction = lifted(native=False), f"\t{INSTRUCTION[processor]}"
    assert f"{instruction}i32" in plain
    assert f"{instruction}f32" not in plain
    assert f"{instruction}f32" in lifted(native=True)


def test_the_command_names_kernels_with_other_last_digits(
    lifter: ContainerLifter, build: Callable[..., Path]
) -> None:
    program = str(build("matrices.cu"))
    plain = CliRunner().invoke(app, [program])
    native = CliRunner().invoke(app, ["--native-matrices", program])
    assert (plain.exit_code, native.exit_code) == (0, 0)
    assert "last digits may differ" not in plain.stderr
    assert re.search(r"kernel \S*halves\S* adds .* last digits may differ", native.stderr)
