"""What a cubin says of its kernels: clusters, and where parameters begin."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from benchmarks.lift.cubins import compile_unit
from benchmarks.lift.generated import MODES
from cass_ray.lift import LiftError, lift_cubin
from cass_ray.lift.frontend.cubin import SUPPORTED, architecture, kernel_info, referred_symbols
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.unit import Unit

pytestmark = pytest.mark.nvidia

PROGRAMS = Path(__file__).parents[1] / "programs"
KERNEL = """
.version 9.0
.target sm_{architecture}
.address_size 64
.visible .entry k(.param .u64 out) {cluster} {{
  ret;
}}
"""


def assembled(folder: Path, number: int, cluster: str = "") -> bytes:
    source, target = folder / "k.ptx", folder / f"k{number}.cubin"
    source.write_text(KERNEL.format(architecture=number, cluster=cluster))
    ptxas = find_nvidia().nvcc.with_name("ptxas")
    subprocess.run([ptxas, f"-arch=sm_{number}", source, "-o", target], check=True)
    return target.read_bytes()


@pytest.mark.parametrize("number", SUPPORTED)
def test_parameters_begin_where_ptxas_reads_them(number: int, tmp_path: Path) -> None:
    cubin = Cubin.parse(assembled(tmp_path, number))
    assert architecture(cubin) == number
    stored = {7: 0x160, 8: 0x160, 9: 0x210}.get(number // 10, 0x380)
    assert kernel_info(cubin, "k").parameter_base == stored


@pytest.mark.parametrize(
    ("registers", "threads"),
    [(16, 1024), (64, 1024), (65, 896), (72, 896), (80, 768), (128, 512), (168, 384), (255, 256)],
)
def test_registers_bound_a_block(registers: int, threads: int, tmp_path: Path) -> None:
    """CUDA's occupancy calculator: warps of a multiprocessor by registers of a thread."""
    cubin = Cubin.parse(assembled(tmp_path, 90))
    sections = [
        replace(each, info=each.info & 0xFFFFFF | registers << 24) if each.is_code else each
        for each in cubin.sections
    ]
    assert kernel_info(replace(cubin, sections=sections), "k").max_threads == threads


@pytest.mark.amd
def test_several_blocks_are_refused_unless_launched_as_one(tmp_path: Path) -> None:
    one = assembled(tmp_path, 90, ".explicitcluster .reqnctapercluster 1, 1, 1")
    assert lift_cubin(one).kernels == ("k",)
    several = assembled(tmp_path, 90, ".explicitcluster .reqnctapercluster 2, 1, 1")
    with pytest.raises(LiftError, match="clusters of 2 x 1 x 1 blocks"):
        lift_cubin(several)
    (launched,) = lift_cubin(several, clusters=True).clusters
    assert (launched.name, launched.shape, launched.parameters) == ("k", (2, 1, 1), 1)


@pytest.mark.parametrize("architecture", ["sm_80", "sm_86", "sm_90", "sm_120"])
def test_functions_called_by_name_are_not_pointed_to(architecture: str) -> None:
    """``angle`` is called, ``third`` and ``squared`` are in a table, and both bear debug tables."""
    unit = Unit(PROGRAMS, PurePosixPath("function_table.cu"))
    cubins, message = compile_unit(find_nvidia(), unit, [architecture], MODES["G"])
    assert not message
    referred = referred_symbols(Cubin.parse(cubins[architecture]))
    assert referred is not None
    functions = {"_Z5thirdd", "_Z7squaredd", "_Z5angled"}
    assert referred & functions == {"_Z5thirdd", "_Z7squaredd"}
