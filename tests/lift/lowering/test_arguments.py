"""Parameters as arguments of AMD's kernels: where CUDA has them, or moved."""

from __future__ import annotations

import pytest

from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.cubin import Parameter
from cass_ray.lift.lowering.arguments import argument_layout


def parameters(*places: tuple[int, int]) -> tuple[Parameter, ...]:
    return tuple(Parameter(offset, size) for offset, size in places)


def test_scalars_and_pointers() -> None:
    found = argument_layout(parameters((0, 8), (8, 4), (12, 1), (14, 2), (16, 8)))
    assert found.types == ("ptr addrspace(1)", "i32", "i8", "i16", "ptr addrspace(1)")
    assert found.common_shift == 0


def test_a_structure_gets_the_alignment_that_puts_it_where_it_is() -> None:
    found = argument_layout(parameters((0, 4), (4, 12), (16, 32))).types
    assert found[1] == "ptr addrspace(4) byref([12 x i8]) align 4"
    assert found[2] == "ptr addrspace(4) byref([32 x i8]) align 16"


def test_eight_bytes_on_a_multiple_of_four_are_a_structure() -> None:
    assert argument_layout(parameters((0, 4), (4, 8))).types[1].endswith("byref([8 x i8]) align 4")


def test_a_place_that_no_alignment_gives_is_an_error() -> None:
    with pytest.raises(LiftError, match="a parameter at 0x20"):
        argument_layout(parameters((0, 4), (0x20, 4)))


def test_tensor_maps_that_come_first_move_all() -> None:
    """ptxas 13.0 puts a map at a multiple of 128 in bank 0, where parameters begin at 0x210."""
    found = argument_layout(parameters((0x70, 128), (0xF0, 128), (0x170, 8)))
    assert found.shifts == (-0x70, -0x70, -0x70)
    assert found.common_shift == -0x70
    assert found.shift_at(0x100) == -0x70


def test_what_is_in_front_of_a_map_stays() -> None:
    found = argument_layout(parameters((0, 8), (0x70, 128), (0xF0, 4)))
    assert found.shifts == (0, -0x60, -0x60)
    assert found.common_shift is None
    copied = "\n".join(found.copying())
    assert "alloca [61 x i32]" in copied
    assert "ptr addrspace(4) %arguments, i64 16" in copied
