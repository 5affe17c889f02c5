"""Which tests are slow, and how workers share the tests (``pytest -n 2``) and the cores."""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

# Each test has a core at best: a second thread of torch waits, spinning, for its turn at every sum.
# A small model then takes twenty times as much of the CPU.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# `make test` tells the makes below it that they are below it: they would print where they work.
for _of_make in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
    os.environ.pop(_of_make, None)

# Modules, tests and their parameters stay until the end: none of them is looked for as garbage, a
# third of the time of collecting tests.
gc.disable()


NIGHTLY = Path(__file__).parent / "nightly.txt"
"""Tests, each with how many of its cases `make test` runs."""


def nightly() -> dict[str, int]:
    """How many cases of which test are no slow ones; those of other tests are what they say."""
    lines = (line.split() for line in NIGHTLY.read_text().splitlines() if line[:1] != "#")
    return {name: int(cases) for name, cases in filter(None, lines)}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is nightly as slow; the cases that stay are spread over all."""
    quick = nightly()
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    for name in quick.keys() & cases.keys():
        found, kept = cases[name], quick[name]
        stay = {number * len(found) // kept for number in range(kept)}
        for number, item in enumerate(found):
            if number not in stay:
                item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each worker has tests that stand together, so that their fixtures are made once; the first
    that is done takes half of what another has left."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)
