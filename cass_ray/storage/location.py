"""Places of data sets: folders of this machine, or URLs of storage that all nodes reach."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

SEPARATOR = "://"


def parse_location(value: Path | str) -> Path | str:
    """A URL stays text, ``file://`` and everything else become a path.

    Raises ``ValueError`` for a URL of nothing, which would be a folder called ``s3:``.
    """
    if isinstance(value, Path):
        return value
    scheme, separator, place = value.partition(SEPARATOR)
    if separator and not place.strip("/"):
        path = "/FOLDER" if scheme == "file" else "BUCKET/FOLDER"
        raise ValueError(f"{value} names no place: write {scheme}{SEPARATOR}{path}")
    text = value.removeprefix("file://")
    return text.rstrip("/") if SEPARATOR in text else Path(text)


Location = Annotated[Path | str, AfterValidator(parse_location)]
"""A ``Path``, or the URL of a folder without a slash at its end."""


def absolute(location: Path | str) -> Path | str:
    """``location`` as other processes can use it."""
    return location.absolute() if isinstance(location, Path) else location


def below(location: Path | str, name: str) -> Path | str:
    """What is called ``name`` in ``location``."""
    return location / name if isinstance(location, Path) else f"{location}/{name}"
