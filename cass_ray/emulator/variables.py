"""Environment variables of the emulator.

``CASS_EMULATOR_NAME``, or ``CASS_RDNA3_NAME``, as they were called when the engine knew RDNA3
alone. The present name counts where both are set (``engine/environment.hpp`` does the same).
"""

from __future__ import annotations

import os

_PREFIXES = ("CASS_EMULATOR_", "CASS_RDNA3_")


def emulator_variable(name: str) -> str | None:
    """The text of the variable that is called ``name`` behind the prefix; None where none is
    set."""
    return next((os.environ[each + name] for each in _PREFIXES if each + name in os.environ), None)
