"""Limits on what is read, so that no single input can exhaust memory, disk or time."""

from __future__ import annotations

from pydantic import Field

from cass_ray.config import StrictModel


class ReadLimits(StrictModel):
    """Sizes are bytes."""

    source_bytes: int = Field(default=2_000_000, gt=0)
    """Larger main files are rejected as ``too_large`` without being read."""
    header_bytes: int = Field(default=4_000_000, gt=0)
    """Larger included files count as missing."""
    tree_files: int = Field(default=5_000, gt=0)
    """Files in the tree of one program."""
    tree_bytes: int = Field(default=64_000_000, gt=0)
    """Total size of the tree of one program, unpacked."""
    archive_members: int = Field(default=500_000, gt=0)
    """Members listed from one archive; what lies beyond is rejected."""
    archive_bytes: int = Field(default=8_000_000_000, gt=0)
    """Total size that one archive may unpack to."""
