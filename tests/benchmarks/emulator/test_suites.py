"""How the benchmark runs a GoogleTest binary and counts; the binary is a script here."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.emulator.amd_suites import packages
from benchmarks.emulator.amd_suites_pieces import Budget, Piece, in_pieces, next_piece
from benchmarks.emulator.amd_suites_report import Row, tables
from benchmarks.emulator.gtest import Case, parse_list, run_cases

LISTED = """\
Running main() from ./googletest/src/gtest_main.cc
Scan/0.  # TypeParam = params<int, 64>
  Inclusive
  DISABLED_Large
Sizes/Sort.
  Keys/0  # GetParam() = 4
"""

BINARY = """\
import os, sys
flags = dict(line.strip().split("=", 1) for line in open(sys.argv[1].split("=", 1)[1]))
for name in flags["--gtest_filter"].split(":"):
    print(f"[ RUN      ] {name}", flush=True)
    print("chatter", flush=True)
    if name == "A.crash":
        os._exit(3)
    if name == "A.sleep":
        import time; time.sleep(60)
    if name == "A.wrong":
        print("x.cpp:3: Failure", flush=True)
        print(f"[  FAILED  ] {name}, where TypeParam = int (7 ms)", flush=True)
    else:
        print(f"[       OK ] {name} (12 ms)", flush=True)
print("[  FAILED  ] 1 test, listed below:")
print("[  FAILED  ] A.wrong, where TypeParam = int")
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str | Path]:
    (tmp_path / "binary.py").write_text(BINARY)
    return [sys.executable, tmp_path / "binary.py"]


def test_listed_cases_without_the_disabled_ones() -> None:
    assert parse_list(LISTED) == ["Scan/0.Inclusive", "Sizes/Sort.Keys/0"]


def test_a_crash_ends_one_case(command: list[str | Path]) -> None:
    names = ["A.right", "A.crash", "A.wrong", "A.other"]
    cases = run_cases(command, names, {}, 60).cases
    assert {name: case.outcome for name, case in cases.items()} == {
        "A.right": "passed", "A.crash": "crashed", "A.wrong": "failed", "A.other": "passed",
    }  # fmt: skip
    assert cases["A.right"].seconds == 0.012
    assert cases["A.wrong"].text == "chatter\nx.cpp:3: Failure"
    assert cases["A.crash"].text == "chatter\nexit code 3"


def test_the_time_is_over(command: list[str | Path]) -> None:
    cases = run_cases(command, ["A.right", "A.sleep", "A.other"], {}, 3).cases
    assert {name: case.outcome for name, case in cases.items()} == {
        "A.right": "passed", "A.sleep": "out of time",
    }  # fmt: skip


def row(seconds: float, **outcomes: str) -> Row:
    cases = {name: Case(outcome.replace("_", " "), 10.0) for name, outcome in outcomes.items()}
    return Row("rocprim", "test_scan", "gfx90a", seconds, ("a", "b", "c"), cases)


def piece_of(rows: list[Row], seconds: float, *running: Piece) -> Piece | None:
    return next_piece(rows, running, Budget(seconds, 20), 1000)


def test_a_later_call_goes_on() -> None:
    assert piece_of([], 30) == Piece((), 20)
    assert piece_of([], 30, Piece((), 20)) is None  # its cases are being listed
    rows = [row(30, a="passed", b="out_of_time")]
    assert piece_of(rows, 30) is None
    assert piece_of(rows, 90) == Piece(("c",), 20)
    assert piece_of(rows, 70, Piece(("c",), 10)) == Piece(("b",), 30)  # three times its ten seconds
    assert piece_of(rows, 60, Piece(("c",), 10)) is None  # that is more than what is left
    rows.append(row(5, b="passed", c="failed"))
    assert piece_of(rows, 90) is None


def test_every_case_is_run_once_on_several_cores() -> None:
    done: list[Row] = []

    def run(key: str, piece: Piece) -> Row:
        names = piece.names or ("a",)
        cases = {name: Case("passed", 1.0) for name in names}
        return Row("rocprim", key, "gfx90a", 1.0, ("a", "b", "c"), cases)

    def of(key: str) -> list[Row]:
        return [row for row in done if row.binary == key]

    keys = ["test_scan", "test_sort"]
    done += in_pieces(keys, run, of, Budget(60, 20), 2)  # each is added as it is yielded
    ran = sorted((row.binary, name) for row in done for name in row.cases)
    assert ran == [(key, name) for key in keys for name in "abc"]


def test_tables_count_the_last_outcome_of_a_case() -> None:
    rows = [row(30, a="passed", b="out_of_time"), row(5, c="failed"), row(9, b="passed")]
    assert [Row.of(json.loads(json.dumps(asdict(each)))) for each in rows] == rows
    text = tables(rows)
    assert "| rocprim | gfx90a | 3 | 2 | 1 | 0 | 0 | 0 | 66.67% | 44 |" in text
    assert text.endswith("gfx90a test_scan c: failed")


def test_the_suites_are_pinned() -> None:
    assert [len(package.sha256) for package in packages()] == [64] * 4
