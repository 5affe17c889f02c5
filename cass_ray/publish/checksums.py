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


def unchanged_files(folder: Path) -> set[Path]:
    """The files of ``folder`` that its list names with the digests that they have, and the list."""
    try:
        lines = (folder / SUMS_FILE).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return set()
    entries = (line.partition("  ") for line in lines)
    files = {folder / name: digest for digest, _, name in entries}
    return {folder / SUMS_FILE} | {
        path for path, digest in files.items() if path.is_file() and digest_of(path) == digest
    }


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
