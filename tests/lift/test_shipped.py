"""Shipped CUDA programs: cubin lifted, run under the HIP host, output as on an H200."""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import gather
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT, load_manifest
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, execute
from cass_ray.execute.references import STORED_FOLDER, read_references
from cass_ray.lift import LiftError, lift_cubin, names_for_host
from cass_ray.lift.frontend.container import best_cubins, cubins_in
from cass_ray.toolchain.amd.toolchain import AmdOutput
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_120")
FEW = {
    # shuffles, shared memory, 64-bit integers
    "programs/general_compute/block_reduce.cu": ("sm_75", "sm_90"),
    "programs/data_structure/ring_buffer.cu": ("sm_80",),  # device printf
    "programs/graphics/sphere_tracer.cu": ("sm_90", "sm_120"),  # recursion
}
ONE = next(iter(FEW))


def unit_of(path: str) -> Unit:
    parts = path.split("/")
    return Unit(SHIPPED_ROOT.joinpath(*parts[:2]), PurePosixPath(*parts[2:]))


@cache
def expected(path: str) -> bytes:
    for file in sorted(STORED_FOLDER.glob("*.json")):
        for program in read_references(file).programs:
            if program.path == path:
                return program.nvidia.runs[0].stdout.encode()
    raise AssertionError(f"no stored output of {path}")


def host_of(path: str, folder: Path) -> AmdOutput:
    sources = translated(gather(unit_of(path)), make_translator())
    return find_amd().compile(sources.write(folder), optimization="-O3")


def check(path: str, architectures: tuple[str, ...], folder: Path) -> None:
    cubins = find_nvidia().compile(unit_of(path), architectures).cubins
    (folder / "sources").mkdir()
    host = host_of(path, folder / "sources")
    for architecture in architectures:
        cubin = cubins[architecture]
        names = names_for_host(Cubin.parse(cubin), host.device_assembly)
        lifted = lift_cubin(cubin, names=names)
        assert lifted.failures == {}
        program = find_amd().recombine(
            host.host_assembly,
            lifted.assembly,
            folder / architecture,
            runtime_library=runtime_library(),
        )
        done = execute(program, (), runtime_library(), RunOptions(seconds=120))
        assert done.stdout == expected(path), (architecture, done.stderr_text[-500:])


@pytest.mark.parametrize("path", FEW)
def test_output_is_that_of_the_gpu(path: str, tmp_path: Path) -> None:
    check(path, FEW[path], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("path", [entry.path for entry in load_manifest()])
def test_output_is_that_of_the_gpu_for_all(path: str, tmp_path: Path) -> None:
    check(path, ARCHITECTURES, tmp_path)


def test_a_file_without_device_code_says_so(tmp_path: Path) -> None:
    path = tmp_path / "no_code"
    path.write_bytes(b"\x7fELF" + bytes(60))
    with pytest.raises(LiftError, match="no cubin in it"):
        cubins_in(path, find_nvidia())


def test_a_cubin_is_found_in_its_file(tmp_path: Path) -> None:
    cubin = find_nvidia().compile(unit_of(ONE), ("sm_80",)).cubins["sm_80"]
    path = tmp_path / "program.cubin"
    path.write_bytes(cubin)
    found = best_cubins(cubins_in(path, find_nvidia()))
    assert [(each.architecture, each.data) for each in found] == [(80, cubin)]


def test_blocks_name_the_sass_address_that_they_come_from() -> None:
    cubin = find_nvidia().compile(unit_of(ONE), ("sm_80",)).cubins["sm_80"]
    lifted = lift_cubin(cubin)
    assert "; %sass_0_" in lifted.assembly
    assert all(f".amdhsa_kernel {kernel}\n" in lifted.assembly for kernel in lifted.kernels)
