"""Settings of ``cass publish``."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field, field_validator

from cass_ray.config import StrictModel
from cass_ray.corpus.screening.licenses import PERMISSIVE, LicenseSettings


class PublishSettings(StrictModel):
    """What is published, and what must stay."""

    source: Path
    """Folder of a data set, of an exported model, or of benchmark results."""
    out: Path
    """Folder that the files for publication are written to."""

    name: str = Field(default="cass-ray", pattern=r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
    licenses: LicenseSettings = LicenseSettings(allow=list(PERMISSIVE), unknown=False)
    """Rows of other licenses are withheld. Unlike a build, publication takes no unknown ones."""
    opt_out: Path | None = None
    """File with a repository, a row's id or the SHA-256 of a source in each line: withheld."""
    rows_per_file: int = Field(default=5_000, ge=1)
    repository: str | None = Field(default=None, pattern=r"[\w.-]+/[\w.-]+")
    """Where it is uploaded to, ``owner/name``; nowhere unless asked."""
    endpoint: str | None = None
    """Base URL of the hub. [default: $HF_ENDPOINT, else the public one]"""
    private: bool = True
    """Made as a private repository: its owner decides when others see it."""

    @field_validator("source", "out")
    @classmethod
    def _is_local(cls, folder: Path) -> Path:
        """Refuse a URL, of which a path has one slash left."""
        if re.match(r"\w+:/", str(folder)) and not folder.exists():
            raise ValueError(
                f"{folder} is a URL: give a folder of this machine (copy it there first)"
            )
        return folder
