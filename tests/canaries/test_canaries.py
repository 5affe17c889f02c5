"""Programs in which others found faults, run as a user runs them: by the command line.

Each folder holds a program, what CUDA prints (``expected.txt``) and ``case.yaml``
(:mod:`benchmarks.public_reports.case`). The first run of each case is quick; all others are slow.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.public_reports.case import CaseFolder, Way, cases_below
from benchmarks.public_reports.running import run_case


def _marks(case: CaseFolder, way: Way, target: str, number: int) -> list[pytest.MarkDecorator]:
    marks = [pytest.mark.slow] if number else []
    if f"{way} {target}" in case.case.open_runs:
        marks.append(pytest.mark.xfail(reason=case.case.note, strict=True))
    return marks


CASES = cases_below(Path(__file__).parent)
RUNS = [
    pytest.param(
        case,
        way,
        target,
        id=f"{case.folder.parent.name}-{case.name}-{way}-{target}",
        marks=_marks(case, way, target, number),
    )
    for case in CASES
    for number, (way, target) in enumerate(case.runs())
]


@pytest.mark.amd
@pytest.mark.nvidia
@pytest.mark.parametrize(("case", "way", "target"), RUNS)
def test_a_case_is_right_or_refused_by_name(case: CaseFolder, way: Way, target: str) -> None:
    result = run_case(case, way, target)
    assert result.passed, f"{result.verdict}\n{result.stdout[-2000:]}\n{result.stderr[-2000:]}"


def test_every_case_says_what_it_is_about() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    for case in CASES:
        assert case.case.title or case.case.note, case.folder
