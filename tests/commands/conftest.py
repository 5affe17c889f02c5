"""The executables of ``tests/port``: ``cass run-binary`` is tried on the same."""

from __future__ import annotations

from tests.port.conftest import build, lifter

__all__ = ["build", "lifter"]
