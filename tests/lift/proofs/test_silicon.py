"""The specification that the proofs are about, against the results of an NVIDIA H200."""

from __future__ import annotations

import json

import pytest

from cass_ray.lift.form_evidence import stored
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.sandbox import isolation
from tests.lift.proofs.silicon import CONFIRMED, Comparison, compare
from tests.lift.proofs.specification import SPECIFIED
from tests.lift.vectors import recipes
from tests.lift.vectors.forms import family

ARCHITECTURES = (80, 90, 120)
FAMILIES = ("integer", "wide", "uniform")
SAMPLE = 31
LANES = recipes.STORED
"""Of these the results are stored in full; of all other lanes checksums are."""


@pytest.fixture(scope="module")
def tools() -> None:
    if not isolation.available():
        pytest.skip(isolation.problem())
    try:
        find_nvidia()
    except ToolMissing as error:
        pytest.skip(str(error))


def check(found: list[Comparison]) -> list[Comparison]:
    """None differs; the kernels that were done."""
    assert {each.form.name: each.wrong for each in found if each.wrong} == {}
    return [each for each in found if not each.skipped]


def test_what_is_proven_is_confirmed() -> None:
    """By a kernel with an instruction of the same function of the specification."""
    confirmed = json.loads(CONFIRMED.read_text())["mnemonics"]
    functions = {SPECIFIED[mnemonic] for mnemonic in confirmed}
    mnemonics = {form.partition(" ")[0] for form in stored().proven}
    assert sorted(m for m in mnemonics if SPECIFIED[m] not in functions) == []


@pytest.mark.nvidia
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_sample_of_kernels(tools: None, architecture: int) -> None:
    integer = list(family("integer").values())[architecture % SAMPLE :: SAMPLE]
    assert check(compare(integer, architecture, LANES))


@pytest.mark.slow
@pytest.mark.nvidia
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", FAMILIES)
def test_all_kernels_on_all_lanes(tools: None, name: str, architecture: int) -> None:
    check(compare(list(family(name).values()), architecture, recipes.LANES))
