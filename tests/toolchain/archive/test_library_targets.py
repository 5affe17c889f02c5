"""Which targets AMD's libraries hold code for is known before a program runs."""

from __future__ import annotations

import mmap
import re

import pytest

from cass_ray.architectures import emulated_architectures
from cass_ray.cache import default_directory
from cass_ray.toolchain.archive.library_root import find_library_root
from cass_ray.toolchain.archive.library_targets import HELD, LIBRARIES, targets_table, without_code

BLAS = "int main() { hipblasHandle_t handle; hipblasCreate(&handle); }"
_CODE = re.compile(rb"amdgcn-amd-amdhsa--(gfx[0-9a-f]+(?:(?:-\d+)?-generic)?)")
_GENERIC = {"gfx9-4-generic": {"gfx942", "gfx950"}, "gfx11-generic": {"gfx1100"}}
"""Processors that the CPU backend runs, of generic targets (AMDGPUUsage, Generic Processors)."""


@pytest.mark.parametrize(
    ("text", "targets", "said"),
    [
        (BLAS, ["gfx942"], "rocblas as Debian has them hold no code for gfx942"),
        (BLAS, ["gfx1100", "gfx1201", "gfx942"], "no code for gfx1201, gfx942"),
        (BLAS, ["gfx1100"], ""),
        (BLAS, ["gfx90a"], ""),
        (BLAS, [], ""),
        ("rocrand_create_generator(&g, t);", ["gfx942"], "rocrand as Debian"),
        ("hipfftPlan1d(&plan, n, HIPFFT_C2C, 1);", ["gfx942"], ""),
        ("int main() { hipFree(0); }", ["gfx942"], ""),
    ],
)
def test_what_is_said_before_a_run(text: str, targets: list[str], said: str) -> None:
    found = without_code([text], targets)
    assert said in found
    assert bool(found) == bool(said)
    assert not said or "--arch rx7900xtx (gfx1100) or --arch mi210 (gfx90a)" in found


def test_the_table_has_each_library_and_target() -> None:
    table = targets_table()
    assert tuple(table) == LIBRARIES
    assert all(tuple(row) == emulated_architectures() for row in table.values())
    assert table["rocblas"]["gfx90a"]
    assert not table["rocblas"]["gfx942"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_libraries_hold_what_the_table_says(name: str) -> None:
    root = find_library_root(default_directory())
    file = root.folder / f"lib{name}.so" if root else None
    if file is None or not file.is_file():
        pytest.skip(f"{name} is not installed (cass setup libraries)")
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        held = {match[1].decode() for match in _CODE.finditer(data)}
    generic = set().union(*(_GENERIC.get(each, ()) for each in held))
    assert (held | generic) & set(HELD) == set(HELD)
    # rocSOLVER's own code is for more, but calls rocBLAS'.
    assert generic or held & set(emulated_architectures()) == set(HELD)
