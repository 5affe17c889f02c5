"""What a source yields: a program, or a reject row for an input that cannot become one.

Both convert to the same flat row, so that a stream of them has the same columns.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from cass_ray.corpus.dialect import CUDA, Dialect
from cass_ray.dataset.row import (
    Origin,
    Reason,
    Stage,
    clip_diagnostic,
)


class SourceError(Exception):
    """A source as a whole cannot be read (wrong path, failed clone); says what to do about it."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a tree of programs came from; shared by all of them."""

    origin: Origin
    repository: str = ""
    license: str = ""
    """SPDX identifier, or "" when unknown. A tag in the file itself wins over it."""
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """One CUDA or OpenCL program, decoded and closed over its local includes.

    ``source`` is authoritative: whoever unpacks ``tree`` writes it at ``path`` before compiling
    (the copy in the tree is the same, except that it may predate an encoding repair).
    """

    id: str
    """SHA-256 of the normalized source and its include closure."""
    provenance: Provenance
    path: str
    """Path of the main file in its tree: relative, POSIX, never leaving the tree."""
    source: str
    license: str = ""
    tree: str = ""
    """Digest of the tree archive, or "" when the program includes no local file."""
    include_directories: tuple[str, ...] = ()
    """Directories for ``-I``, in order, relative to the root of the tree ("." is the root)."""
    definitions: tuple[str, ...] = ()
    """``NAME`` or ``NAME=VALUE`` for ``-D``."""
    forced: tuple[str, ...] = ()
    """Headers for ``-include``: paths of the tree, or names."""
    standard: str = ""
    """Of C++, as ``c++20``; empty for C++17 and what is older."""
    header_packages: tuple[str, ...] = ()
    """Folders of provided headers (``HeaderPackage.key``)."""
    dependencies: tuple[str, ...] = ()
    """Other repositories that included files are from, as ``NAME@COMMIT: fetched`` or ``NAME:
    given``."""
    lacks: tuple[str, ...] = ()
    """Other repositories that are not here and may have the headers that are missing."""
    part_of: str = ""
    """A file that includes this one, where no build says whether this one is compiled alone."""
    configured: str = ""
    """Where the command is from: ``recorded``, ``compile_commands.json``, ``inferred``; empty for
    a file that belongs to no project."""
    header_kernels: int = 0
    """Number of kernel definitions in the include closure, the main file not counted."""
    forbidden_includes: tuple[str, ...] = ()
    """``path:line: message`` for each include that is absolute or leaves the tree."""
    encoding: str = "utf-8"
    """Encoding the main file was in; ``source`` is decoded, so anything else was a repair."""
    domain: str = ""
    """What the program is about: a value of ``domains.Domain``."""
    dialect: Dialect = CUDA

    @property
    def filename(self) -> str:
        return PurePosixPath(self.path).name

    def to_row(self) -> dict[str, Any]:
        """The row of this program."""
        return {
            **_row(self.provenance, self.path),
            "id": self.id,
            "license": self.license or self.provenance.license,
            "domain": self.domain,
            self.dialect.column: self.source,
            "tree": self.tree,
            "include_directories": list(self.include_directories),
            "definitions": list(self.definitions),
            "forced": list(self.forced),
            "standard": self.standard,
            "header_packages": list(self.header_packages),
            "dependencies": list(self.dependencies),
            "lacks": list(self.lacks),
            "part_of": self.part_of,
            "configured": self.configured,
            "header_kernels": self.header_kernels,
            "forbidden_includes": list(self.forbidden_includes),
            "encoding": self.encoding,
        }


@dataclass(frozen=True, slots=True)
class ReadReject:
    """A candidate file that could not become a program. Its row has no source."""

    provenance: Provenance
    path: str
    """Path as listed; for an unsafe path, the path as written, made printable."""
    reason: Reason
    message: str

    @property
    def id(self) -> str:
        """A hash of where the file is: there is no content to hash."""
        where = "\0".join(
            (
                "unread",
                self.provenance.origin.value,
                self.provenance.repository,
                self.provenance.revision,
                self.path,
            )
        )
        return hashlib.sha256(where.encode("utf-8", "surrogatepass")).hexdigest()

    def to_row(self) -> dict[str, Any]:
        """The reject row of this file (stage ``read``)."""
        return {
            **_row(self.provenance, self.path),
            "id": self.id,
            "license": self.provenance.license,
            "stage": Stage.READ.value,
            "reason": self.reason.value,
            "diagnostic": clip_diagnostic(self.message),
        }


def _row(provenance: Provenance, path: str) -> dict[str, Any]:
    return {
        "id": "",
        "filename": PurePosixPath(path).name,
        "origin": provenance.origin.value,
        "repository": provenance.repository,
        "license": "",
        "path": path,
        "domain": "",
        "cuda_source": "",
        "opencl_source": "",
        "stage": "",
        "reason": "",
        "diagnostic": "",
        "duplicate_of": "",
        "revision": provenance.revision,
        "tree": "",
        "include_directories": [],
        "definitions": [],
        "forced": [],
        "standard": "",
        "header_packages": [],
        "dependencies": [],
        "lacks": [],
        "part_of": "",
        "configured": "",
        "header_kernels": 0,
        "forbidden_includes": [],
        "encoding": "",
    }
