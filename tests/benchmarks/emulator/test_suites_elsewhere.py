"""What another machine gets of AMD's suites, and how its workers share the cases."""

from __future__ import annotations

import json
import os
import struct
import time
from pathlib import Path

from benchmarks.emulator.amd_suites_elsewhere import (
    cases_left,
    in_turn,
    rows_of,
    take_out,
    without_others,
)
from benchmarks.emulator.amd_suites_report import tables
from benchmarks.emulator.amd_suites_worker import LIMITS, Item, Queue

LATE = "out of time"


def test_what_has_ended_is_left_no_more(tmp_path: Path) -> None:
    left, results = tmp_path / "left.json", tmp_path / "results"
    left.write_text(json.dumps({"rocprim/test_scan": {"gfx1100": ["a", "b"], "gfx90a": ["a"]}}))
    results.mkdir()
    case = {"path": "rocprim/test_scan", "architecture": "gfx1100", "seconds": 1.0, "text": ""}
    lines = [{**case, "name": "a", "outcome": "passed"}, {**case, "name": "b", "outcome": LATE}]
    (results / "1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert take_out(results, left) == 2
    assert cases_left(left) == [
        ["rocprim/test_scan", "gfx1100", "b"],
        ["rocprim/test_scan", "gfx90a", "a"],
    ]


def bundle(**codes: bytes) -> bytes:
    """Code objects as clang-offload-bundler lays them out: offset, size and target of each."""
    header, body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(codes)), b""
    names = [f"hipv4-amdgcn-amd-amdhsa--{name}".encode() for name in codes]
    start = len(header) + sum(24 + len(name) for name in names)
    for name, code in zip(names, codes.values(), strict=True):
        header += struct.pack("<QQQ", start + len(body), len(code), len(name)) + name
        body += code
    return header + body


def test_code_of_processors_that_are_not_run_is_left_out() -> None:
    program = b"host" + bundle(gfx1100=b"wanted", gfx908=b"other", gfx90a=b"too") + b"behind"
    assert without_others(program) == program.replace(b"other", bytes(5))


def test_lists_of_different_lengths_are_spread_evenly() -> None:
    short, long = [["a"], ["b"]], [["1"], ["2"], ["3"], ["4"]]
    assert "".join(entry for (entry,) in in_turn([short, long])) == "1a23b4"


def test_workers_share_the_cases(tmp_path: Path) -> None:
    items = {index: Item("rocprim/test_scan", "gfx90a", f"case {index}") for index in (0, 1, 7)}
    ends = time.time() + 1000
    one, other = Queue(items, tmp_path).take(ends), Queue(items, tmp_path)
    assert [next(one)[0], next(one)[0]] == [0, 1]
    assert next(other.take(ends))[0] == 7
    other.done(1)
    assert [index for index, _, _ in Queue(items, tmp_path).take(ends)] == []  # others have them


def test_what_was_out_of_time_is_tried_again_with_more(tmp_path: Path) -> None:
    items = {0: Item("rocprim/test_scan", "gfx90a", "slow")}
    queue = Queue(items, tmp_path)
    assert [limit for _, _, limit in queue.take(time.time() + 1000)] == [LIMITS[0]]
    ended = time.time() - LIMITS[0] - 10
    os.utime(tmp_path / "0.0", (ended, ended))
    assert [limit for _, _, limit in queue.take(time.time() + 1000)] == [LIMITS[1]]
    assert list(queue.take(time.time() + 1000)) == []


def test_lines_of_workers_become_rows(tmp_path: Path) -> None:
    entry = {"path": "rocprim/test_scan", "architecture": "gfx90a", "wall": 2.0, "seconds": 1.0}
    lines = [
        {**entry, "name": "a", "outcome": "out of time", "text": ""},
        {**entry, "name": "a", "outcome": "passed", "text": ""},
        {**entry, "name": "b", "outcome": "failed", "text": "x"},
        {**entry, "name": "c", "outcome": "crashed", "text": "exit code -9"},  # killed
    ]
    (tmp_path / "1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = rows_of(tmp_path, {"test_scan": ["a", "b", "c"]})
    assert "| test_scan | gfx90a | 3 | 1 | 1 | 0 | 0 | 1 | 50.00% | 8 |" in tables(rows)
