"""CUDA's libraries by the names that build files give them, and ROCm's in their place."""

from __future__ import annotations

import tomllib
from pathlib import Path

_TABLES: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
LIBRARIES = _TABLES["libraries"]
TARGETS = _TABLES["targets"]
VARIABLES = _TABLES["variables"]
PACKAGES = _TABLES["packages"]
