"""``SHA256SUMS``: digests of every published file, in the form that ``sha256sum -c`` reads."""

from __future__ import annotations

import hashlib
from pathlib import Path

SUMS_FILE = "SHA256SUMS"


def write_sums(folder: Path) -> dict[str, str]:
    """Write the list; path below ``folder`` -> digest, in order of the paths."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS_FILE)
    sums = {path.relative_to(folder).as_posix(): digest_of(path) for path in files}
    lines = "".join(f"{digest}  {name}\n" for name, digest in sums.items())
    (folder / SUMS_FILE).write_text(lines, "utf-8")
    return sums


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
