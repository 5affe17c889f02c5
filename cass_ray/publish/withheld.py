"""Which rows must not leave: licences outside the list, and those whose authors opted out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cass_ray.config import SettingsError
from cass_ray.corpus.screening.licenses import LicenseSettings, license_objection

_SOURCES = ("cuda_source", "hip_source", "opencl_source")


class Withholding:
    """Decides by row; made from the settings once."""

    def __init__(self, licenses: LicenseSettings, opted_out: Iterable[str] = ()) -> None:
        self._licenses = licenses
        self._opted_out = {canonical(each) for each in opted_out}

    def objection(self, row: Mapping[str, Any]) -> str:
        """Why ``row`` must not be published; empty where it may be."""
        if names_of(row) & self._opted_out:
            return "opted out"
        if objection := license_objection(row, self._licenses):
            return objection[1]
        return ""


def read_opt_out(path: Path | None) -> list[str]:
    """Entries of the list: a line each; ``#`` begins a comment. Raises :class:`SettingsError`."""
    if path is None:
        return []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"opt_out: {path}: {error}") from None
    entries = (line.partition("#")[0].strip() for line in lines)
    return [entry for entry in entries if entry]


def names_of(row: Mapping[str, Any]) -> set[str]:
    """What an opt-out may call ``row`` by: its id, its repository, digests of its sources."""
    names = {canonical(str(row[key])) for key in ("id", "repository") if row.get(key)}
    for column in _SOURCES:
        if text := row.get(column):
            names.add(hashlib.sha256(text.encode("utf-8", "replace")).hexdigest())
    return names


def canonical(name: str) -> str:
    """A repository by host and path, whatever the form of its address; digests in lower case.

    ``https://Example.org/A/b.git``, ``git@example.org:A/b`` and ``example.org/a/b/`` are one.
    """
    text = name.strip()
    if "://" in text:
        parts = urlsplit(text)
        text = (parts.hostname or "") + parts.path
    elif text.startswith("git@"):
        text = text.removeprefix("git@").replace(":", "/", 1)
    return text.rstrip("/").removesuffix(".git").lower()
