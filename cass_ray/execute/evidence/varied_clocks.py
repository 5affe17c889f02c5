"""Runs of a reference with other clocks and another process number (``varied_clocks.c``)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.execute.evidence.preloaded import preloadable
from cass_ray.toolchain.sandbox.executable import Exposure

_SOURCE = Path(__file__).with_name("varied_clocks.c")
_PRELOAD = "LD_PRELOAD"


def with_varied_clocks(exposure: Exposure) -> Exposure:
    """``exposure`` and the library, preloaded before any other.

    Raises :class:`~cass_ray.toolchain.errors.ToolMissing` where no C compiler is there.
    """
    library = preloadable(_SOURCE, default_directory()).resolve()
    others = exposure.environment.get(_PRELOAD)
    preloaded = f"{library}:{others}" if others else str(library)
    return replace(
        exposure,
        read_only=(*exposure.read_only, library.parent),
        environment={**exposure.environment, _PRELOAD: preloaded},
    )
