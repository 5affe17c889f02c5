"""Forms that are called tested are in kernels that agree with an NVIDIA H200."""

from __future__ import annotations

import json

import pytest

from cass_ray.lift.form_evidence import stored
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.sandbox import isolation
from tests.lift.proofs import form_evidence
from tests.lift.vectors.differential import GOOD

pytestmark = pytest.mark.nvidia


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    if not isolation.available():
        pytest.skip(isolation.problem())
    try:
        find_nvidia()
    except ToolMissing as error:
        pytest.skip(str(error))


def test_forms_of_one_family() -> None:
    by_outcome = json.loads(form_evidence.OUTCOMES.read_text())["sm_90"]["control"]
    agreeing = [kernel for good in GOOD for kernel in by_outcome.get(good, ())]
    forms = form_evidence.forms_of_vectors("sm_90", "control")
    found = set[str]().union(*(forms[kernel] for kernel in agreeing))
    assert found
    assert [form for form in found if "sm_90" not in stored().tested.get(form, ())] == []


@pytest.mark.slow
def test_all_forms() -> None:
    assert {form: list(where) for form, where in stored().tested.items()} == form_evidence.tested()
