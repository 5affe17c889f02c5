"""Reports of some families or architectures leave the others as they were."""

from __future__ import annotations

import json

import pytest

from tests.folders import REPOSITORY
from tests.lift.vectors.differential import DIFFERENT, NOT_LIFTED, SAME
from tests.lift.vectors.report import gaps, merged, table, with_table

RESULTS = REPOSITORY / "benchmarks" / "results"
BEFORE = {
    "sm_100": {"warp": {SAME: ["a"], NOT_LIFTED: ["b"]}},
    "sm_80": {"warp": {SAME: ["a", "b"]}, "matrix": {NOT_LIFTED: ["c"]}},
}
LATER = {"sm_80": {"warp": {SAME: ["a"], DIFFERENT: ["b"]}}, "sm_75": {"warp": {SAME: ["a"]}}}


def test_families_that_were_not_run_stay() -> None:
    found = merged(BEFORE, LATER)
    assert list(found) == ["sm_75", "sm_80", "sm_100"]
    assert found["sm_80"] == {**LATER["sm_80"], "matrix": BEFORE["sm_80"]["matrix"]}
    assert found["sm_100"] == BEFORE["sm_100"]
    assert table(found).splitlines()[3:7] == [
        "| **sm_75** | **all** | 1 | 1 | 0 | 0 |",
        "| sm_80 | warp | 2 | 1 | 0 | 1 |",
        "| sm_80 | matrix | 1 | 0 | 1 | 0 |",
        "| **sm_80** | **all** | 3 | 1 | 1 | 1 |",
    ]


def test_what_is_refused_is_known_of_what_ran() -> None:
    before = {"sm_80": ["b", "c"], "sm_120": ["d"]}
    later = {"sm_80": {"warp": {SAME: ["b"], NOT_LIFTED: ["e"]}}, "sm_75": {"warp": {SAME: ["a"]}}}
    assert gaps(before, later) == {"sm_75": [], "sm_80": ["c", "e"], "sm_120": ["d"]}


def test_text_around_the_table_stays() -> None:
    text = "head\n<!-- table -->\nold\n<!-- end of the table -->\n\n## sm_75\n"
    assert with_table(text, "new\n") == text.replace("old", "new")
    with pytest.raises(ValueError, match="are not there"):
        with_table("head\n", "new\n")


def test_the_stored_table_is_that_of_the_stored_outcomes() -> None:
    text = (RESULTS / "opcode_vectors.md").read_text()
    outcomes = json.loads((RESULTS / "opcode_vectors.json").read_text())
    assert with_table(text, table(merged(outcomes))) == text
