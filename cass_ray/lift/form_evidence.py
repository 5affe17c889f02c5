"""What is known of each form beside that it lifts: proven for all inputs, or tested against a GPU.

``form_evidence.json`` is written by ``python -m tests.lift.proofs.form_evidence`` and kept true by
the tests beside it: *proven* forms are those whose LLVM IR z3 has shown equal to a specification
that an Nvidia GPU confirms, *tested* ones occur in kernels whose lifted results are those of an
Nvidia GPU, and *equal* ones are lifted as one of these is, after its operands were moved
(docs/lift/evidence.md).
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from importlib import resources

from cass_ray.assembly import sass
from cass_ray.config import StrictModel
from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.forms import form_of
from cass_ray.lift.frontend.instruction import decode
from cass_ray.lift.lowering.families import forms
from cass_ray.lift.lowering.flow.block_ends import ENDS

FILE = "form_evidence.json"


class FormEvidence(StrEnum):
    """How far a form is known to be lifted right; the first that holds."""

    PROVEN = "proven"
    TESTED = "tested"
    EQUAL = "equal to one"
    LIFTED = "only lifted"
    NOT_LIFTED = "not lifted"


class StoredEvidence(StrictModel):
    """The contents of ``form_evidence.json``."""

    proven: frozenset[str]
    tested: dict[str, tuple[str, ...]]
    """Form -> architectures for which ptxas put it into a kernel that agrees with the GPU. For
    sm_90 that is the machine code which the GPU ran; for others another compilation of its PTX."""
    equal: dict[str, str]
    """Form -> a proven or tested one that z3 has shown to do the same, with its operands moved."""
    evidence: str
    """A digest of the GPU's results, and of what was found with them, from which this was made."""


@functools.cache
def stored() -> StoredEvidence:
    """What ``form_evidence.json`` says."""
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    return StoredEvidence.model_validate(json.loads(text))


def form_evidence(form: str) -> FormEvidence:
    """What is known of a form (``cass_ray.lift.forms``) of the lifter's table, or outside of it."""
    if form in stored().proven:
        return FormEvidence.PROVEN
    if form in stored().tested:
        return FormEvidence.TESTED
    if form in stored().equal:
        return FormEvidence.EQUAL
    return FormEvidence.LIFTED if is_covered(form.partition(" ")[0]) else FormEvidence.NOT_LIFTED


def is_covered(mnemonic: str) -> bool:
    """Whether the lifter knows the mnemonic with its modifiers."""
    return mnemonic in forms() or mnemonic.partition(".")[0] in ENDS


def forms_in(functions: Iterable[sass.SassFunction]) -> Counter[str]:
    """How often each form occurs; of an instruction that cannot be read, its mnemonic."""
    counts: Counter[str] = Counter()
    for function in functions:
        for instruction in function.instructions:
            try:
                counts[form_of(decode(instruction))] += 1
            except UnknownForm:
                counts[instruction.mnemonic] += 1
    return counts


def only_lifted(listing: str) -> list[str]:
    """Forms of a listing that are not proven, tested or equal to such a one, sorted."""
    forms = forms_in(sass.parse(listing).functions)
    return sorted(form for form in forms if form_evidence(form) is FormEvidence.LIFTED)
