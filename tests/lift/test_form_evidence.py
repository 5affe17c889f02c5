"""What is known of forms, and how it is counted and reported."""

from __future__ import annotations

import pytest

from cass_ray.commands.lift import as_dictionary, as_text
from cass_ray.lift.coverage import measure
from cass_ray.lift.form_evidence import (
    FormEvidence,
    StoredEvidence,
    form_evidence,
    is_covered,
    only_lifted,
    stored,
)
from tests.lift.proofs.form_evidence import evidence

LISTING = """.target sm_80

Function : _Z1kPj
IADD3 R4, P0, -R2, R3, RZ
MUFU.RCP R4, |R5|
WGMMA.NEW R4, R5
EXIT
"""
"""A proven form, one that is only lifted here, one that the lifter does not know, and EXIT."""


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = StoredEvidence(
        proven=frozenset({"IADD3 R,P,-R,R,R", "EXIT"}),
        tested={"EXIT": ("sm_80",)},
        equal={"MUFU.RCP R,UR": "MUFU.RCP R,R", "EXIT": "EXIT"},
        evidence="",
    )
    monkeypatch.setattr("cass_ray.lift.form_evidence.stored", lambda: known)


def test_the_strongest_evidence_counts(known: None) -> None:
    assert form_evidence("EXIT") is FormEvidence.PROVEN
    assert form_evidence("IADD3 R,P,-R,R,R") is FormEvidence.PROVEN
    assert form_evidence("MUFU.RCP R,UR") is FormEvidence.EQUAL
    assert form_evidence("IADD3 R,P,R,R,R") is FormEvidence.LIFTED
    assert form_evidence("WGMMA.NEW R,R") is FormEvidence.NOT_LIFTED


def test_coverage_counts_forms_and_instructions_of_each_standing(known: None) -> None:
    coverage = measure([LISTING, LISTING])
    assert coverage.evidence_totals("sm_80") == {
        FormEvidence.PROVEN: (2, 4),
        FormEvidence.TESTED: (0, 0),
        FormEvidence.EQUAL: (0, 0),
        FormEvidence.LIFTED: (1, 2),
        FormEvidence.NOT_LIFTED: (1, 2),
    }
    assert coverage.only_lifted() == {"MUFU.RCP R,|R|": 2}
    printed = as_dictionary(coverage)
    assert printed["only_lifted"] == {"MUFU.RCP R,|R|": 2}
    assert "only lifted" in as_text(coverage)


def test_evidence_of_a_lifted_row_names_what_is_only_lifted(known: None) -> None:
    assert only_lifted(LISTING) == ["MUFU.RCP R,|R|"]


def test_stored_evidence_are_of_forms_that_lift() -> None:
    names = [*stored().proven, *stored().tested, *stored().equal]
    assert names
    assert [form for form in names if not is_covered(form.partition(" ")[0])] == []


def test_forms_are_equal_to_proven_or_tested_ones() -> None:
    known = stored()
    assert known.equal
    assert [
        form for form in known.equal.values() if form not in known.proven | known.tested.keys()
    ] == []


def test_evidence_is_of_the_results_that_are_stored() -> None:
    """Else ``python -m tests.lift.proofs.form_evidence`` is to be run: they are made from these."""
    assert stored().evidence == evidence()
