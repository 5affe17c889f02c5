"""Machine code in other names is the same machine code."""

from __future__ import annotations

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from cass_ray.assembly import sass
from recipes.small.assembly_names import other_names, other_registers
from tests.assembly import samples

SASS = sass.normalize(samples.read("kernels.sm_90.nvdisasm.sass"))
CODE = "Function : _Z3R12Pi\nLDG.E.64 R4, desc[UR4][R8.64]\n@!P1 IADD3 R5, R4, R1, RZ\nEXIT"


def test_runs_of_four_move_together_and_the_stack_pointer_stays() -> None:
    """R4 to R7 and R8 to R11 change places or they do not; there is one run of UR, and one P."""
    other = "Function : _Z3R12Pi\nLDG.E.64 R8, desc[UR4][R4.64]\n@!P1 IADD3 R9, R8, R1, RZ\nEXIT"
    assert {other_registers(CODE, random.Random(seed)) for seed in range(20)} == {CODE, other}


@given(st.integers(0, 1000))
def test_each_register_keeps_its_place_in_a_run_and_none_falls_on_another(seed: int) -> None:
    made = other_registers(SASS, random.Random(seed))
    names = re.compile(r"(?<![\w.$])R(\d+)(?![\w$])")
    pairs = list(zip(names.findall(SASS), names.findall(made), strict=True))
    there, back = dict(pairs), {new: old for old, new in pairs}
    assert all(int(old) % 4 == int(new) % 4 for old, new in pairs)
    assert len(there) == len(back) == len(set(pairs))
    assert [re.sub(r"\d+", "", line) for line in made.split("\n")] == [
        re.sub(r"\d+", "", line) for line in SASS.split("\n")
    ]


def test_registers_of_matrix_instructions_and_numbered_predicates_stay() -> None:
    matrix = "HMMA.16816.F32 R24, R4, R8, R24\nISETP.GE.AND P0, PT, R40, R44, P1"
    made = {other_registers(matrix, random.Random(seed)) for seed in range(9)}
    assert {re.sub(r"P\d", "P", text) for text in made} == {re.sub(r"P\d", "P", matrix)}
    packed = "R2P PR, R4, 0x3\n@P0 BRA .L_0"
    assert {other_registers(packed, random.Random(seed)) for seed in range(9)} == {packed}


def test_names_change_alike_on_both_sides() -> None:
    sides = ("Function : _Z5scaleIfEvPT_S0_i", "Kernel : _Z5scaleIfEvPT_S0_i\nscale")
    made = other_names(sides, random.Random(0), lambda chance: "enlarge")
    assert made == (
        "Function : _Z7enlargeIfEvPT_S0_i",
        "Kernel : _Z7enlargeIfEvPT_S0_i\nscale",
    )
