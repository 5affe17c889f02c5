"""Settings of ``cass analyze``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from cass_ray.config import StrictModel
from cass_ray.storage.location import Location

INSTALL_ANALYSIS = "pip install 'cass-ray[analysis]'"


class NoDataSetError(FileNotFoundError):
    """The folder holds no data set."""


class AnalysisSettings(StrictModel):
    """What is analysed, and how much of it where all of it would take too long.

    Samples are chosen by a hash of the row's id: the same rows whatever else runs.
    """

    dataset: Location
    """Folder or URL with ``pairs/`` and ``rejects/``, as ``cass build-dataset`` writes it."""
    out: Path
    similarity_rows: int = Field(default=400, ge=0)
    """Rows whose texts are compared (chrF and edit similarity)."""
    similarity_characters: int = Field(default=8_000, ge=100)
    """Characters of each text that are compared, from its beginning."""
    embedding_rows: int = Field(default=1_500, ge=0)
    """Rows whose device assembly is embedded; each gives a point for each vendor."""
    encoder: Path | None = None
    """Folder of a Hugging Face encoder; without one, TF-IDF and a truncated SVD."""
    projections: tuple[Literal["t-SNE", "UMAP"], ...] = ("t-SNE", "UMAP")
    images: bool = True
    """Write each figure as PNG and SVG, too."""
    cluster: bool = False
    """Read parts on the nodes of a Ray cluster, else in this process's own."""
    processes: int | None = Field(default=None, ge=1)
    """Parts that are read at a time. [default: processors of this machine]"""
