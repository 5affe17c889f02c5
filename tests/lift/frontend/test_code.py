"""The code of a cubin: which of its functions a call through a register may reach."""

from __future__ import annotations

from cass_ray.lift.frontend.code import CubinCode

_KERNEL = "_Z1kPf"
_OWN = {
    "$__internal_0_$__cuda_sm20_div_rn_f64_full": 0x10,
    f"${_KERNEL}$__internal_trig_reduction_slowpathd": 0x20,
    f"${_KERNEL}$_Z5decayd": 0x30,
    f"${_KERNEL}$_Z5otherd": 0x40,
}


def offsets(literal: str, words: set[int], names: dict[str, int]) -> list[int]:
    lines = ["MOV R2, " + literal, *["EXIT"] * 5]
    text = "\n".join([".target sm_80", "", f"Function : {_KERNEL}", *lines])
    program = CubinCode(text, {_KERNEL: names})
    return program.offsets_called(program.code(_KERNEL), words)


def test_the_compilers_own_subroutines_are_called_by_name_alone() -> None:
    assert offsets("0x7", set(), _OWN) == [0x30, 0x40]


def test_an_offset_that_is_named_may_be_called() -> None:
    assert offsets("0x10", set(), _OWN) == [0x10, 0x30, 0x40]
    assert offsets("0x7", {0x20, 0x99}, _OWN) == [0x20, 0x30, 0x40]


def test_without_names_each_is_kept() -> None:
    """A listing has none."""
    listed = {f"$listing${address:x}": address for address in (0x10, 0x20)}
    assert offsets("0x7", set(), listed) == [0x10, 0x20]
