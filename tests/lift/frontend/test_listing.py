"""Listings without their cubin: parameters from names, code that runs as the cubin's does."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from cass_ray.assembly import sass
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, execute
from cass_ray.lift import LiftError, lift_text, names_for_host
from cass_ray.lift.frontend import cubin as reading
from cass_ray.lift.frontend.listing import cubin_of, is_listing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from tests.lift.test_shipped import expected, host_of, unit_of

HEADER = ".target sm_80\n\nFunction : {}\n"
PROGRAMS = (
    "programs/simulation/nbody.cu",  # shared memory, square roots in subroutines
    "programs/general_compute/segmented_reduction.cu",
)


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    ("path", "architecture"),
    [
        (PROGRAMS[0], "sm_80"),
        (PROGRAMS[1], "sm_90"),
        pytest.param(PROGRAMS[0], "sm_90", marks=pytest.mark.slow),
        pytest.param(PROGRAMS[1], "sm_80", marks=pytest.mark.slow),
    ],
)
def test_a_listing_runs_as_its_cubin_does(path: str, architecture: str, tmp_path: Path) -> None:
    cubin = find_nvidia().compile(unit_of(path), (architecture,)).cubins[architecture]
    text = sass.normalize(find_nvidia().disassemble([cubin])[0])
    (tmp_path / "sources").mkdir()
    host = host_of(path, tmp_path / "sources")
    lifted = lift_text(text, names=names_for_host(cubin_of(text), host.device_assembly))
    program = find_amd().recombine(
        host.host_assembly, lifted.assembly, tmp_path / "program", runtime_library=runtime_library()
    )
    done = execute(program, (), runtime_library(), RunOptions(seconds=120))
    assert done.stdout == expected(path), done.stderr_text[-500:]


def parameters(name: str, *instructions: str) -> list[tuple[int, int]]:
    cubin = cubin_of(HEADER.format(name) + "\n".join([*instructions, "EXIT"]))
    found = reading.kernel_info(cubin, name).parameters
    return [(parameter.offset, parameter.size) for parameter in found]


def test_parameters_follow_from_the_mangled_name() -> None:
    assert parameters("_Z4axpyfPKfPfi") == [(0, 4), (8, 8), (16, 8), (24, 4)]
    # (bool, char, short, double, float4, unsigned char, int3)
    assert parameters("_Z4manybcsd6float4h4int3") == [
        (0, 1), (1, 1), (2, 2), (8, 8), (16, 16), (32, 1), (36, 12),
    ]  # fmt: skip
    assert parameters("_Z5nonesv") == []


@pytest.mark.parametrize(
    ("name", "instruction", "message"),
    [
        ("_Z4pair4Pair", "MOV R1, RZ", "the size of Pair"),
        ("plain", "MOV R1, c[0x0][0x160]", "0 bytes of parameters, its code reads 4"),
        ("_Z4axpyi", "MOV R1, c[0x3][0x4]", "constant bank 3"),
        ("_Z4axpyi", "BRX R2 -0x40", "does not name the targets"),
    ],
)
def test_what_a_listing_does_not_say_is_an_error(name: str, instruction: str, message: str) -> None:
    with pytest.raises(LiftError, match=message):
        cubin_of(HEADER.format(name) + f"{instruction}\nEXIT")


def test_only_text_with_functions_is_a_listing() -> None:
    assert is_listing((HEADER.format("_Z1fv") + "EXIT\n").encode())
    assert not is_listing(b"#include <cuda.h>\nint main() { return 0; }\n")
    assert not is_listing(b"\x7fELF" + struct.pack("<60x"))
