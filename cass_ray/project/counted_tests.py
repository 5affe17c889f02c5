"""How many tests of a log passed, by what the usual frameworks print at their end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class TestCount:
    """Tests of one framework over all its runs in a log."""

    framework: str
    passed: int
    total: int

    def __str__(self) -> str:
        return f"{self.passed} of {self.total} ({self.framework})"


_NO_TESTS = re.compile(
    r"^No tests were found!!!$|\[==========\] (?:Running )?0 tests from 0 test|^no tests ran in ",
    re.MULTILINE,
)


def found_no_tests(log: str) -> bool:
    """Whether a runner of tests had none to run, which CTest and GoogleTest call a success."""
    return bool(_NO_TESTS.search(log)) and not any(each.total for each in counted_tests(log))


def counted_tests(log: str) -> tuple[TestCount, ...]:
    """Counts of each framework that ``log`` shows.

    CTest runs programs of the other frameworks, whose counts are finer. It may show those of tests
    that fail alone: then they are fewer, and CTest's own count is the one.
    """
    text = _ESCAPE.sub("", log)
    counts = []
    for framework, counts_in in _FRAMEWORKS.items():
        runs = list(counts_in(text))
        if runs:
            passed, total = (sum(column) for column in zip(*runs, strict=True))
            counts.append(TestCount(framework, passed, total))
    finer = [count for count in counts if count.framework != "CTest"]
    by_ctest = [count for count in counts if count.framework == "CTest"]
    if by_ctest and sum(count.total for count in finer) < by_ctest[0].total:
        return tuple(by_ctest)
    return tuple(finer)


def _googletest(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(
        r"\[==========\] (?P<total>\d+) tests? from \d+ test (?:suites?|cases?) ran\..*?\n"
        r"(?:[^\n]*\n)??[^\n]*\[  PASSED  \] (?P<passed>\d+) tests?\.",
        text,
    ):
        yield int(match["passed"]), int(match["total"])


def _ctest(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"(\d+) tests? failed out of (\d+)", text):
        yield int(match[2]) - int(match[1]), int(match[2])


def _catch2(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"All tests passed \([\d,]+ assertions? in (\d+) test cases?\)", text):
        yield int(match[1]), int(match[1])
    for match in re.finditer(r"test cases:\s*(\d+)(?: \|\s*(\d+) passed)?(?: \|[^\n]*)?\n", text):
        if "[doctest]" not in text[max(0, match.start() - 12) : match.start()]:
            yield int(match[2] or 0), int(match[1])


def _doctest(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"\[doctest\] test cases:\s*(\d+)\s*\|\s*(\d+) passed", text):
        yield int(match[2]), int(match[1])


def _pytest(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"^=* ?((?:\d+ \w+(?:, )?)+) in [\d.]+s", text, re.MULTILINE):
        numbers = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", match[1])}
        bad = sum(numbers.get(word, 0) for word in ("failed", "error", "errors"))
        if "passed" in numbers or bad:
            yield numbers.get("passed", 0), numbers.get("passed", 0) + bad


def _boost(text: str) -> Iterator[tuple[int, int]]:
    running = [int(number) for number in re.findall(r"Running (\d+) test cases?\.\.\.", text)]
    failed = [int(number) for number in re.findall(r"(\d+) test cases? out of \d+ failed", text)]
    if running:
        yield sum(running) - sum(failed), sum(running)


_FRAMEWORKS: dict[str, Callable[[str], Iterator[tuple[int, int]]]] = {
    "GoogleTest": _googletest,
    "Catch2": _catch2,
    "doctest": _doctest,
    "pytest": _pytest,
    "Boost.Test": _boost,
    "CTest": _ctest,
}
