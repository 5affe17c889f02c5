"""Kernels as functions: parameters where CUDA has them."""

from __future__ import annotations

import pytest

from cass_ray.lift.errors import LiftError, UnknownForm
from cass_ray.lift.frontend.cubin import Parameter
from cass_ray.lift.module import parameter_types


def parameters(*places: tuple[int, int]) -> tuple[Parameter, ...]:
    return tuple(Parameter(offset, size) for offset, size in places)


def test_scalars_and_pointers() -> None:
    found = parameter_types(parameters((0, 8), (8, 4), (12, 1), (14, 2), (16, 8)))
    assert found == ["ptr addrspace(1)", "i32", "i8", "i16", "ptr addrspace(1)"]


def test_a_structure_gets_the_alignment_that_puts_it_where_it_is() -> None:
    found = parameter_types(parameters((0, 4), (4, 12), (16, 32)))
    assert found[1] == "ptr addrspace(4) byref([12 x i8]) align 4"
    assert found[2] == "ptr addrspace(4) byref([32 x i8]) align 16"


def test_eight_bytes_on_a_multiple_of_four_are_a_structure() -> None:
    assert parameter_types(parameters((0, 4), (4, 8)))[1].endswith("byref([8 x i8]) align 4")


def test_a_place_that_no_alignment_gives_is_an_error() -> None:
    with pytest.raises(LiftError, match="a parameter at 0x20"):
        parameter_types(parameters((0, 4), (0x20, 4)))


def test_an_error_names_form_address_and_kernel() -> None:
    error = UnknownForm("@!P0 FOO.BAR R1, R2", "no such thing").at(
        "@!P0 FOO.BAR R1, R2", "_Z1kv", 0x40
    )
    assert error.form == "FOO.BAR"
    assert (error.kernel, error.address) == ("_Z1kv", 0x40)
    assert "_Z1kv at 0x0040" in str(error)
