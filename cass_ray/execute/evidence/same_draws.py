"""Runs in which what a program draws at random is the same each time (``same_draws.c``).

A seed is an input: an original and its port get the same one.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from pathlib import Path

from cass_ray.execute.evidence.preloaded import with_preloaded
from cass_ray.toolchain.sandbox.executable import Exposure

_DAY = 24 * 60 * 60
_VARIABLE = "CASS_DRAWS"
_SOURCE = Path(__file__).with_name("same_draws.c")


def new_seed() -> int:
    """A seed that nobody can guess: a time of the last day and 32 random bits."""
    return (int(time.time()) - secrets.randbelow(_DAY)) << 32 | secrets.randbits(32)


def with_same_draws(exposure: Exposure, seed: int) -> Exposure:
    """``exposure`` with a time of day and sources of random numbers that follow from ``seed``.

    Instructions of the processor are as ever (RDTSC, RDRAND). Raises
    :class:`~cass_ray.toolchain.errors.ToolMissing` where no C compiler is there.
    """
    preloaded = with_preloaded(exposure, _SOURCE)
    environment = {**preloaded.environment, _VARIABLE: str(seed)}
    return replace(preloaded, environment=environment)
