"""Why headers are not there."""

from __future__ import annotations


class HeadersError(RuntimeError):
    """A package cannot be reached, is not what was pinned, or is not safe to unpack."""
