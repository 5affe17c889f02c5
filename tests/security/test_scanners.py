"""Texts that make a scanner read them again and again: time grows with their length, no faster."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from cass_ray.assembly import demangle as demangling
from cass_ray.assembly.align import align_names
from cass_ray.assembly.demangle import MAXIMUM_TEXT_LENGTH, demangle, demangle_all
from cass_ray.corpus.screening.scrub import ScrubSettings, scrub
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.comparison.runs import common_runs
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.process import Limits, run
from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules.engine import RulesTranslator
from tests.folders import REPOSITORY
from tests.security import work as counting
from tests.security.work import MOST_GROWTH, faster_than_length

_RULES = RulesTranslator()


@pytest.fixture(scope="module")
def work() -> dict[str, dict[str, list[int]]]:
    """Counted in a process of its own, which loads our code with counters in it."""
    command = [sys.executable, "-m", "tests.security.work"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    made: dict[str, dict[str, list[int]]] = json.loads(done.stdout)
    return made


def test_work_grows_with_length(work: dict[str, dict[str, list[int]]]) -> None:
    assert faster_than_length(work) == []


def test_expressions() -> None:
    command = [sys.executable, "-m", "tests.security.expressions"]
    limits = Limits(cpu_seconds=60, wall_seconds=900, address_space_bytes=None)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = run(command, cwd=REPOSITORY, limits=limits, env=environment)
    assert done.ok, done


QUADRATIC = """
def scan(text):
    for start in range(len(text)):
        {statement}
"""


@pytest.mark.parametrize(
    "statement",
    [
        'text.find("x", start)',
        're.compile("x").search(text, start)',
        "text[start:]",
        '"x" in text',
        "[each for each in text]",
        "while start: start -= 1",
    ],
)
def test_the_count_sees_what_is_read_again(statement: str) -> None:
    names: dict[str, Any] = {"re": re, "_work": counting.WORK}
    exec(counting.instrumented(QUADRATIC.format(statement=statement), "scan.py"), names)
    counts = []
    for size in (100, 400):
        before = counting.WORK.done
        names["scan"]("a" * size)
        counts.append(counting.WORK.done - before)
    assert counts[1] > MOST_GROWTH * counts[0]


@pytest.mark.parametrize("text", ['R"x(int a;', "/* int a;", 'int s = 1; u8R"(', "int a; /*/"])
def test_what_never_ends_is_a_finding(text: str) -> None:
    findings = _RULES.translate(f"{text}\ncudaMalloc(&p, 4);\n", filename="a.cu").findings
    assert [item.severity for item in findings if "never ends" in item.message] == [Severity.ERROR]


def test_what_is_too_deep_is_a_finding() -> None:
    deep = "(" * 300 + "cudaMalloc" + ")" * 300
    findings = _RULES.translate(f"int a = {deep};", filename="a.cu").findings
    assert [item.column for item in findings if "256 brackets" in item.message] == [9 + 256]


@pytest.mark.parametrize("prefix", ["R", "u8R", "uR", "UR", "LR"])
def test_raw_strings_are_no_code(prefix: str) -> None:
    text = f'auto s = {prefix}"x(cudaMalloc ")" cudaFree)x"; auto t = a{prefix}"(" + cudaSuccess;'
    made = _RULES.translate(text, filename="a.cu").source
    assert "cudaMalloc" in made and "cudaFree" in made and "hipSuccess" in made


def test_no_address_is_left() -> None:
    """Many different addresses used to be replaced one after another."""
    addresses = [f"{a}.{b}.77.99" for a in range(60, 100) for b in range(250)]
    made, found = scrub("// " + " ".join(addresses), ScrubSettings())
    assert found["ip_addresses"] == len(addresses)
    assert made.count("<IP_ADDRESS>") == len(addresses)


OUTPUTS = {
    "equal lines": (["1"] * 20_000 + ["2"], ["1"] * 20_001),
    "two lines in turn": (["a", "b"] * 10_000, ["b", "b", "a"] * 6_000),
    "lines in the other order": (
        [str(n) for n in range(20_000)],
        [str(n) for n in reversed(range(20_000))],
    ),
    "a line more each": ([str(n) for n in range(20_000)], [str(n) for n in range(1, 20_000)]),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_runs_of_any_outputs(name: str) -> None:
    one, other = OUTPUTS[name]
    end = other_end = 0
    for start, other_start, length in common_runs(one, other):
        assert start >= end and other_start >= other_end and length > 0
        end, other_end = start + length, other_start + length
        assert one[start:end] == other[other_start:other_end]
    assert end <= len(one) and other_end <= len(other)


def test_a_line_more_is_one_gap() -> None:
    lines = [str(n % 5000) for n in range(20_000)]
    other = [*lines[:12_345], "more", *lines[12_345:]]
    assert common_runs(lines, other) == [(0, 0, 12_345), (12_345, 12_346, 7_655)]


def test_blocks_are_not_looked_for_for_ever() -> None:
    """A block of equal lines fits nowhere, and almost everywhere."""
    block = ["0.5"] * 1000 + ["end"]
    first = "\n".join(["start a", *block]).encode()
    second = "\n".join(["start b", "and more", *block]).encode()
    made = compare([first, second], b"0.5\n" * 10_000)
    assert not made.numeric
    assert "too many lines alike" in made.difference


def doubling(levels: int) -> str:
    """A name of ``levels`` pairs, each of the pair before it and that pair again."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return "_Z1fSt4pairIiiE" + "".join(f"S_IS{digits[n]}_S{digits[n]}_E" for n in range(levels))


def test_a_name_does_not_grow_without_bound() -> None:
    assert len(doubling(20)) < 250
    assert demangle(doubling(2)).count("int") == 2 + 4 + 8
    assert demangle(doubling(20)) == doubling(20)


def test_no_name_that_may_grow_is_demangled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def here(name: str) -> str:
        seen.append(name)
        return name

    monkeypatch.setattr(demangling, "_demangled_here", here)
    monkeypatch.setattr(demangling, "_demangled_apart", lambda names: names)
    hostile = [doubling(n) for n in range(8, 30)]
    hostile += ["_Z1fIJiiiiEEvDpT_", "_Z1f" + "P" * 2000 + "i", "_Z1fIiEv" + "T_" * 9]
    demangle_all([*hostile, "_Z5fresh9unseen_Xi"])
    assert seen == ["_Z5fresh9unseen_Xi"]


def test_hostile_names_do_not_spoil_honest_ones() -> None:
    if not isolation.available():
        pytest.skip(isolation.problem())
    honest = "_Z9transformIJfffffEEvDpT_"
    names = [doubling(30), honest, doubling(25)]
    found = demangle_all(names)
    assert found[honest].startswith("void transform<float")
    assert all(len(text) <= MAXIMUM_TEXT_LENGTH for text in found.values())
    aligned = align_names([*names, "_Z4sameIfEvPT_"], [*names, "_Z4sameIfEvPT_"])
    assert not aligned.kernels_differ
