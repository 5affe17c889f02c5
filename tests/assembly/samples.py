"""The golden texts under ``data/``; its README says which tools made them, and how."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent / "data"


def read(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")
