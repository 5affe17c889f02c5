"""How much a command says beside its result: ``--quiet``, ``--verbose``."""

from __future__ import annotations

import sys
from enum import IntEnum

from cass_ray.printable import printable_text


class Verbosity(IntEnum):
    """Levels of what standard error carries beside errors."""

    QUIET = 0
    """No progress, no next step."""
    NORMAL = 1
    VERBOSE = 2
    """Details under the verdict, too."""


_level = Verbosity.NORMAL


def set_verbosity(level: Verbosity) -> None:
    """The level of this process from now on."""
    global _level
    _level = level


def quiet() -> bool:
    """Whether nothing but results and errors is wanted."""
    return _level is Verbosity.QUIET


def verbose() -> bool:
    """Whether details are wanted."""
    return _level is Verbosity.VERBOSE


def next_step(*commands: str) -> None:
    """Say on standard error what a person may do next."""
    if not quiet():
        for command in commands:
            sys.stderr.write(printable_text(f"next: {command}") + "\n")
