"""The error that all of storage raises."""

from __future__ import annotations


class StorageError(RuntimeError):
    """A store cannot be used, or what it holds is damaged; the message names the URL."""
