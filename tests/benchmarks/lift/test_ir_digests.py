"""Whether two runs gave the same IR."""

from __future__ import annotations

from benchmarks.lift.ir_digests import differences, lifted_text
from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.toolchain.nvidia.elf import Cubin

KERNEL = "_Z1kPf"


def text_of(*instructions: str) -> str:
    listing = "\n".join([".target sm_80", "", f"Function : {KERNEL}", *instructions])
    cubin = cubin_of(listing)
    assert isinstance(cubin, Cubin)
    return lifted_text(cubin, listing, "gfx1100")


def test_ir_is_the_same_each_time_and_another_for_other_code() -> None:
    one = text_of("FADD R5, R6, R7", "STG.E [R2.64], R5", "EXIT")
    assert one == text_of("FADD R5, R6, R7", "STG.E [R2.64], R5", "EXIT")
    assert one != text_of("FADD R5, R7, R6", "STG.E [R2.64], R5", "EXIT")


def test_what_is_refused_is_part_of_it() -> None:
    assert "; _Z1kPf: " in text_of("NOSUCH R4", "EXIT")
    assert "NOSUCH" in text_of("NOSUCH R4", "EXIT")


def test_modules_of_one_run_alone_are_no_difference() -> None:
    assert differences({"a": "1", "b": "2", "new": "3"}, {"a": "1", "b": "4", "old": "5"}) == ["b"]
