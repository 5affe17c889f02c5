"""What can go wrong in porting an executable."""

from __future__ import annotations


class PortError(Exception):
    """The executable cannot be ported; the message says why and what to do."""
