"""What a server said before there were grades is read by today's client."""

from __future__ import annotations

from typing import Any

import pytest

from cass_ray.api.schema import ExecutionReport, Verdict, Verification
from cass_ray.execute.rewards.verdicts import RewardVerdict

RUN = {"arguments": ["7"], "verdict": "ok", "status": 0, "matched": True, "exact": True,
       "stdout": "3\n", "expected": "3\n", "seconds": 0.1, "peak_memory_bytes": 4096,
       "launches": ["k <<<(1,1,1), (64,1,1)>>> x1"]}  # fmt: skip
EXECUTION = {"ran": True, "matched": True, "backend": "rdna3", "reference": "lifted",
             "reference_kind": "lifted sm_90", "independent": True, "passed_over": [],
             "problem": "", "driver": False, "runs": [RUN], "findings": [], "device_faults": [],
             "tolerance": "f32", "seconds": 0.2}  # fmt: skip
"""As of the commit before "Grades in rewards, bench, rows, service and command line"."""


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in EXECUTION.items() if name != key}


@pytest.mark.parametrize(
    "report",
    [EXECUTION, without("reference_kind"), without("passed_over"), without("runs"),
     {**EXECUTION, "matched": None}],
)  # fmt: skip
def test_a_report_without_a_grade_has_none(report: dict[str, Any]) -> None:
    assert ExecutionReport.model_validate(report).grade == ""


@pytest.mark.parametrize("word", ["unchecked", "failed", "compiled", "executed", "matched"])
def test_the_words_for_how_far_a_translation_was_proved_stay(word: str) -> None:
    made = Verdict.model_validate({"verification": word, "label": word, "execution": EXECUTION})
    assert made.verification is Verification(word)


@pytest.mark.parametrize(
    "outcome",
    ["right", "wrong output", "does not run", "does not compile", "no program", "undecided"],
)
def test_a_verdict_of_a_reward_without_a_grade_has_none(outcome: str) -> None:
    made = RewardVerdict.model_validate({"reward": 0.0, "outcome": outcome, "reason": "x"})
    assert (made.outcome.value, made.grade) == (outcome, "")
