"""A digest of the checks: verdicts that other checks made are not taken from a cache."""

from __future__ import annotations

import functools
from pathlib import Path

from cass_ray.cache import digest

_FOLDER = Path(__file__).parent


@functools.cache
def checks_version() -> str:
    """Changes whenever code that decides about a candidate does."""
    files = sorted(path for path in _FOLDER.rglob("*") if path.suffix in {".py", ".c"})
    return digest([path.read_bytes() for path in files])
