"""Results on disk: JSON, and the Markdown page beside it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.pipeline.figures import Results
from benchmarks.pipeline.tables import page


def load(path: Path) -> Results:
    """The results in ``path``, empty where there is no such file."""
    return Results.model_validate_json(path.read_text()) if path.exists() else Results()


def save(results: Results, path: Path) -> None:
    """Write ``path`` and, beside it, the Markdown page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(results.model_dump_json(indent=2) + "\n")
    path.with_suffix(".md").write_text(page(results))
