"""A digest of the lifter's files: what is made by lifting is kept by it."""

from __future__ import annotations

from pathlib import Path

from cass_ray.cache import digest


def of_files() -> str:
    """The digest of the files as they are now."""
    folder = Path(__file__).parent
    files = sorted(
        path for path in folder.rglob("*") if path.suffix in {".py", ".c", ".h", ".ll", ".hip"}
    )
    return digest([path.read_bytes() for path in files])[:16]


_FINGERPRINT = of_files()


def fingerprint() -> str:
    """Changes with any file of the lifter: part of the key of whatever is made by lifting.

    Of the files as they were when it was first asked for. The lifter, which may be imported later,
    is not once one of them has changed: what it makes would be kept as the former lifter's.
    """
    return _FINGERPRINT
