"""Samples that depend on rows alone: the same rows are chosen in any order, on any machine."""

from __future__ import annotations

import hashlib

_RANGE = 1 << 64


def position(identifier: str, purpose: str) -> float:
    """A number in [0, 1) from SHA-256 of ``purpose`` and ``identifier``."""
    digest = hashlib.sha256(f"{purpose}\0{identifier}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") / _RANGE


def rate(wanted: int, total: int) -> float:
    """The share of ``total`` rows whose :func:`position` is taken so that about ``wanted`` are."""
    return 1.0 if wanted >= total else wanted / total
