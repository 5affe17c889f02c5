"""Architectures of Nvidia and processors of AMD that tests go through together."""

from __future__ import annotations

import pytest

NEWER_TO_BOTH_WAVES = [
    ("sm_90", "gfx942"),
    ("sm_120", "gfx1100"),
    pytest.param("sm_90", "gfx1100", marks=pytest.mark.slow),
    pytest.param("sm_120", "gfx942", marks=pytest.mark.slow),
]
"""Each of either once; the other two combinations under ``make test-full``."""
