"""The CPU backend and programs of ``tests/execute``: execution is a stage too."""

from __future__ import annotations

from tests.execute.conftest import backend, honest

__all__ = ["backend", "honest"]
