"""Settings of the source ``stack-v2``, read from the YAML file that its specification names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cass_ray.config import StrictModel


class StackV2Settings(StrictModel):
    """Where metadata and contents are, and which repositories are taken."""

    metadata: str = "bigcode/the-stack-v2-dedup"
    """A data set of the hub, or a folder with the same configurations."""
    language: Literal["Cuda", "OpenCL"] = "Cuda"
    """Its files become rows, and repositories are ranked by their number."""
    companions: list[str] = []
    """Other languages whose files are put into the trees (``C``, ``C++``): headers to include.
    Their metadata is much larger."""
    repositories: int | None = Field(default=200, ge=1)
    """How many repositories, those with most files first; null takes all."""
    trees: Literal["clone", "blobs"] = "clone"
    """``clone`` fetches the repository at its revision, and rebuilds it from blobs where that
    fails; ``blobs`` asks Software Heritage for the files of the metadata only."""
    clone_url: str = "https://github.com/{repository}.git"
    store: str = "https://softwareheritage.s3.amazonaws.com/content"
    """Objects are at ``STORE/BLOB_ID``, compressed with gzip. Public, no credentials."""
    skip_vendored: bool = False
    skip_generated: bool = False
    concurrency: int = Field(default=32, ge=1, le=512)
    """The most requests at a time."""
    attempts: int = Field(default=6, ge=1)
    back_off_seconds: float = Field(default=0.5, ge=0.0)
    """Wait before the second attempt; doubled for each further one, with jitter."""
    timeout_seconds: float = Field(default=60.0, gt=0.0)
    """Time limit of one request."""
    largest_object: int = Field(default=32 << 20, ge=1)
    """Bytes of one object, compressed and not."""
