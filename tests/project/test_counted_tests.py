"""Counts of tests, from what the frameworks print (their own documentation's and runs' output)."""

from __future__ import annotations

import pytest

from cass_ray.project.counted_tests import counted_tests, found_no_tests

GOOGLETEST = """\
[----------] Global test environment tear-down
[==========] 74 tests from 3 test suites ran. (1204 ms total)
[  PASSED  ] 74 tests.
"""
GOOGLETEST_FAILED = """\
[==========] 5 tests from 1 test case ran. (1 ms total)
[  PASSED  ] 4 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Sum.OfHalves
"""
CTEST = "\n50% tests passed, 1 tests failed out of 2\n\nTotal Test time (real) =   0.11 sec\n"
CTEST_ONE = "100% tests passed, 0 tests failed out of 1\n"
CATCH = "All tests passed (1,025 assertions in 10 test cases)\n"
CATCH_FAILED = "test cases: 10 |  9 passed | 1 failed\nassertions: 25 | 24 passed | 1 failed\n"
DOCTEST = "[doctest] test cases:  7 |  6 passed | 1 failed | 0 skipped\n"
PYTEST = "======== 2 failed, 40 passed, 3 skipped in 12.31s ========\n"
BOOST = "Running 4 test cases...\n\n*** No errors detected\n"
BOOST_FAILED = "Running 1 test case...\n*** 1 test case out of 1 failed\n"


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (GOOGLETEST, ["74 of 74 (GoogleTest)"]),
        (GOOGLETEST + GOOGLETEST_FAILED, ["78 of 79 (GoogleTest)"]),
        ("\x1b[32m[==========] \x1b[m1 test from 1 test suite ran. (0 ms total)\n"
         "\x1b[32m[  PASSED  ] \x1b[m1 test.\n", ["1 of 1 (GoogleTest)"]),
        (GOOGLETEST + CTEST_ONE, ["74 of 74 (GoogleTest)"]),
        (CTEST, ["1 of 2 (CTest)"]),
        (BOOST_FAILED + CTEST, ["1 of 2 (CTest)"]),
        (CATCH, ["10 of 10 (Catch2)"]),
        (CATCH_FAILED, ["9 of 10 (Catch2)"]),
        (DOCTEST, ["6 of 7 (doctest)"]),
        (PYTEST, ["40 of 42 (pytest)"]),
        ("5 passed in 0.02s\n", ["5 of 5 (pytest)"]),
        (BOOST, ["4 of 4 (Boost.Test)"]),
        ("all 12 results are right\n", []),
        ("", []),
    ],
)  # fmt: skip
def test_counts(log: str, said: list[str]) -> None:
    assert [str(count) for count in counted_tests(log)] == said


@pytest.mark.parametrize(
    ("log", "none"),
    [
        ("Internal ctest changing into directory: build\nNo tests were found!!!\n", True),
        ("[==========] Running 0 tests from 0 test suites.\n"
         "[==========] 0 tests from 0 test suites ran. (0 ms)\n[  PASSED  ] 0 tests.\n", True),
        ("no tests ran in 0.01s\n", True),
        (GOOGLETEST, False),
        (GOOGLETEST + "No tests were found!!!\n", False),
        ("all 12 results are right\n", False),
    ],
)  # fmt: skip
def test_no_tests_are_no_success(log: str, none: bool) -> None:
    assert found_no_tests(log) == none
