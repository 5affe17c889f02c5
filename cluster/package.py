"""The folder that travels with a job, as Ray would send it but compressed."""

from __future__ import annotations

import logging
import zipfile
from pathlib import Path

from ray._private.ray_constants import get_runtime_env_default_excludes
from ray._private.runtime_env.packaging import create_package

_LEVEL = 6


def pack(folder: Path, target: Path) -> None:
    """Write ``folder`` to the archive ``target``: what ``.gitignore`` and ``.rayignore`` leave.

    The head keeps every package in memory and sends it to all nodes; Ray's own is not compressed.
    """
    plain = target.with_suffix(".plain")
    quiet = logging.Logger("package", logging.WARNING)
    excludes = get_runtime_env_default_excludes()
    create_package(str(folder), plain, include_gitignore=True, excludes=excludes, logger=quiet)
    with (
        zipfile.ZipFile(plain) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as packed,
    ):
        for entry in source.infolist():
            # Ray names a package by its content: times are the files', not now. Modes stay.
            packed.writestr(entry, source.read(entry), zipfile.ZIP_DEFLATED)
    plain.unlink()
