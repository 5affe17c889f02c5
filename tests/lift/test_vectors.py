"""Lifted opcode forms against what an NVIDIA H200 computed (``vectors/opcode_vectors.json.xz``).

The GPU ran the forms as ptxas makes them for sm_90; here each is assembled for sm_75 to sm_120,
lifted, and run on the RDNA3 backend. Numbers must agree bit for bit, but for the payload of
NaN and the stated error of approximate functions.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox import isolation
from tests.lift.vectors import recipes
from tests.lift.vectors.differential import NOT_LIFTED, check, known, vectors
from tests.lift.vectors.form import Form
from tests.lift.vectors.forms import FAMILIES, all_forms, family

ARCHITECTURES = (75, 80, 89, 90, 100, 120)
GAPS = json.loads(Path(__file__).with_name("gaps.json").read_text())
"""Forms that the lifter refuses, by architecture, with the reason that it gives."""
SAMPLE = 47
"""Every so manieth form is checked in the fast tests."""


@pytest.fixture(scope="module")
def tools() -> None:
    if not isolation.available():
        pytest.skip(isolation.problem())
    try:
        find_amd(), find_nvidia()
    except ToolMissing as error:
        pytest.skip(str(error))


def assert_as_on_the_gpu(forms: list[Form], architecture: int) -> None:
    """No form computes anything else; those that are refused are the known ones."""
    verdicts = check(forms, architecture)
    wrong = {v.form.name: v.detail for v in verdicts if not v.good and v.outcome != NOT_LIFTED}
    refused = {v.form.name: v.detail for v in verdicts if v.outcome == NOT_LIFTED}
    assert wrong == {}
    gaps = GAPS[f"sm_{architecture}"]
    assert {name: text for name, text in refused.items() if name not in gaps} == {}


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("architecture", (90, 100, 120))
def test_products_of_single_bits(tools: None, architecture: int) -> None:
    """From sm_100 on ptxas spreads the bits (``MOVM.U4TO8``) and multiplies bytes."""
    assert_as_on_the_gpu([f for f in all_forms().values() if "_b1_b1_" in f.name], architecture)


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    "architecture",
    [
        pytest.param(each, marks=[] if each in (80, 90, 120) else pytest.mark.slow)
        for each in ARCHITECTURES
    ],
)
def test_sample_of_forms(tools: None, architecture: int) -> None:
    chosen = list(all_forms().values())[architecture % SAMPLE :: SAMPLE]
    assert_as_on_the_gpu(chosen, architecture)


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("target", ["gfx1100", "gfx1201", "gfx90a", "gfx942"])
def test_matrix_products_on_each_target(tools: None, target: str, native: bool) -> None:
    """Each has matrix instructions of its own; elements are such that every order is exact."""
    chosen = [form for form in family("matrix").values() if form.name.startswith("mma_")]
    verdicts = check(chosen, 80, target, native_matrices=native)
    assert {verdict.form.name: verdict.detail for verdict in verdicts if not verdict.good} == {}


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", ["gfx1100", "gfx942"])
def test_sparse_products_on_each_target(tools: None, target: str, every: int) -> None:
    """Integers go to the matrix instructions, which have no sparse A."""
    chosen = list(family("sparse").values())[::every]
    verdicts = check(chosen, 89, target, native_matrices=True)
    assert {verdict.form.name: verdict.detail for verdict in verdicts if not verdict.good} == {}


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("target", ["gfx1100", "gfx942"])
def test_sums_with_a_single_precision_operand(tools: None, target: str) -> None:
    """``HADD2.SAT R, R.F32, -RZ``: how sm_75 converts to half precision towards zero."""
    conversions = family("conversion")
    chosen = [conversions[f"cvt_rz{ftz}_sat_f16_f32"] for ftz in ("", "_ftz")]
    verdicts = check(chosen, 75, target)
    assert {verdict.form.name: verdict.detail for verdict in verdicts if not verdict.good} == {}
    assert len(verdicts) == len(chosen)


@pytest.mark.slow
@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", FAMILIES)
def test_all_forms(tools: None, name: str, architecture: int) -> None:
    assert_as_on_the_gpu(list(family(name).values()), architecture)


def test_every_form_has_a_vector_of_this_very_kernel() -> None:
    missing = [form.name for form in all_forms().values() if known(form) is None]
    assert missing == []


def test_vectors_say_where_they_come_from() -> None:
    stored = vectors()
    assert stored["device"] == "NVIDIA H200"
    assert stored["driver"] and stored["ptxas"] and stored["collected"] and stored["command"]


def test_known_results() -> None:
    """What the GPU must have computed, by hand: guards the recipe of the inputs."""
    forms = vectors()["forms"]
    for name, operation in (
        ("add_u32", lambda a, b: a + b),
        ("xor_b32", lambda a, b: a ^ b),
        ("mul_lo_u32", lambda a, b: a * b),
        ("shl_b32", lambda a, b: a << b if b < 32 else 0),
    ):
        kinds = all_forms()[name].operands
        lanes = bytes.fromhex(forms[name]["lanes"])
        for lane in range(recipes.STORED):
            a, b = (recipes.operand(kind, place, lane) for place, kind in enumerate(kinds))
            wanted = operation(a, b) & 0xFFFFFFFF
            assert int.from_bytes(lanes[4 * lane :][:4], "little") == wanted, (name, lane)


WIDE_SUMS = {
    "plus": lambda term, other: other + term,
    "minus": lambda term, other: other - term,
    "from": lambda term, other: term - other,
}


@pytest.mark.parametrize("name", WIDE_SUMS)
@pytest.mark.parametrize("scale", [0, 1, 4, 30, 31])
def test_known_wide_sums(name: str, scale: int) -> None:
    """64-bit sums, by hand: the second word of each is where a wrong carry shows."""
    kinds = all_forms()[f"{name}_wide_lane_{scale}"].operands
    lanes = bytes.fromhex(vectors()["forms"][f"{name}_wide_lane_{scale}"]["lanes"])
    for lane in range(recipes.STORED):
        term, other = (recipes.operand(kind, place, lane) for place, kind in enumerate(kinds))
        wanted = WIDE_SUMS[name](term << scale, other) & (1 << 64) - 1
        assert int.from_bytes(lanes[8 * lane :][:8], "little") == wanted, lane


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    "architecture",
    [
        pytest.param(each, marks=[] if each in (75, 90, 120) else pytest.mark.slow)
        for each in ARCHITECTURES
    ],
)
def test_the_carry_of_a_scaled_difference(tools: None, architecture: int) -> None:
    """``LEA R, P, -R, R, i``: where the scaled word is 0 nothing is borrowed."""
    names = ("minus_wide_lane_30", "minus_wide_constant_31", "uniform_minus_pq_4", "sub_carry_4")
    assert_as_on_the_gpu([all_forms()[name] for name in names], architecture)
