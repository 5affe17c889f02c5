"""How workers share the tests (``pytest -n 2``) and the cores."""

from __future__ import annotations

import gc
import os
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


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each worker has tests that stand together, so that their fixtures are made once; the first
    that is done takes half of what another has left."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)
