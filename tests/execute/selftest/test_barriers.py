"""Barriers in assembly by the function that they are in, and those that order nothing."""

from __future__ import annotations

import pytest

from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.selftest.mutants import Fault, assembly_mutants
from cass_ray.execute.selftest.selftest import barrier_at, equivalent_mutants, function_at
from cass_ray.execute.shipped import shipped_subjects
from cass_ray.translate.engines.registry import make_translator

TEXT = """\
\t.text
first:                  ; @first
; %bb.0:
\ts_barrier
.LBB0_1:
\ts_barrier
\ts_endpgm
_Z6secondPi:
\ts_nop 0
\ts_barrier
\ts_endpgm
"""


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (4, "barrier 1 of 2 in first"),
        (6, "barrier 2 of 2 in first"),
        (10, "barrier 1 of 1 in _Z6secondPi"),
        (9, ""),
        (1, ""),
        (99, ""),
    ],
)
def test_a_barrier_is_named_by_its_function(line: int, place: str) -> None:
    assert barrier_at(TEXT.splitlines(), line) == place


@pytest.mark.parametrize(
    ("line", "name"),
    [(1, ""), (2, "first"), (4, "first"), (6, "first"), (8, "_Z6secondPi"), (11, "_Z6secondPi")],
)
def test_a_line_belongs_to_the_function_before_it(line: int, name: str) -> None:
    assert function_at(TEXT.splitlines(), line) == name


@pytest.mark.amd
def test_arguments_about_operands_name_an_instruction_that_is_there() -> None:
    argued = [each for each in equivalent_mutants() if each.fault is Fault.ASM_OPERAND]
    assert argued
    subjects = {each.name: each for each in shipped_subjects(make_translator())}
    backend = Rdna3Backend(threads=1)
    for each in argued:
        lines = backend.compile(subjects[each.program].sources).device.splitlines()
        old, _, kernel = each.line.partition(" -> ")[0], *each.line.partition(" in ")[1:]
        places = [at for at, line in enumerate(lines, 1) if line.strip().startswith(old)]
        names = {function_at(lines, at) for at in places}
        assert kernel in names if kernel else names, each


@pytest.mark.amd
def test_arguments_about_barriers_name_some_that_are_there() -> None:
    argued = [each for each in equivalent_mutants() if each.fault is Fault.ASM_BARRIER]
    assert argued
    subjects = {each.name: each for each in shipped_subjects(make_translator())}
    backend = Rdna3Backend(threads=1)
    for each in argued:
        device = backend.compile(subjects[each.program].sources).device
        removed = [m for m in assembly_mutants(device) if m.fault is Fault.ASM_BARRIER]
        places = [barrier_at(device.splitlines(), mutant.line) for mutant in removed]
        assert places.count(each.line) == 1, places
