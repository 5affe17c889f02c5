"""Runs in which what a program draws at random is the same each time (``same_draws.c``).

A seed is an input: an original and its port get the same one.
"""

from __future__ import annotations

from pathlib import Path

from cass_ray.execute.evidence.preloaded import with_preloaded
from cass_ray.toolchain.sandbox.executable import Exposure

_SOURCE = Path(__file__).with_name("same_draws.c")


def with_same_draws(exposure: Exposure) -> Exposure:
    """``exposure`` with the time of day from a constant on, fixed process numbers, and constant
    sources of random numbers. Instructions of the processor are as ever (RDTSC, RDRAND).

    Raises :class:`~cass_ray.toolchain.errors.ToolMissing` where no C compiler is there.
    """
    return with_preloaded(exposure, _SOURCE)
