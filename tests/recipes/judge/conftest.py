"""The backend whose compiler judges."""

from tests.execute.conftest import backend

__all__ = ["backend"]
