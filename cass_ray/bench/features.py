"""Categories and features of tasks: what the benchmark is stratified by."""

from __future__ import annotations

from pathlib import Path

from cass_ray.csv_tables import read_mapping

CATEGORIES = tuple(Path(__file__).with_name("categories.txt").read_text("utf-8").splitlines())
"""The 18 categories of the published benchmark (CASS, ACL 2026)."""


def slug(category: str) -> str:
    """The folder of ``category``: ``Utility/System`` is ``utility_system``."""
    return category.lower().replace("/", "_").replace(" ", "_")


FEATURES = read_mapping(Path(__file__).with_suffix(".csv"))
"""Feature -> what it means. A task lists those that its device or host code exercises."""
