"""The languages that a corpus is read in: CUDA C++, and OpenCL C for rows without CUDA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Dialect:
    """A language of device code, and where its source goes in a row."""

    name: str
    suffixes: tuple[str, ...]
    """Extensions of the files that become rows; headers do where nothing is compiled."""
    column: str
    """Column of the row that holds the source."""
    kernel_words: tuple[str, ...]
    """Words that mark a kernel definition."""

    def is_candidate(self, path: str) -> bool:
        """Whether the file at ``path`` must end as a row."""
        return path.lower().endswith(self.suffixes)


CUDA = Dialect("CUDA", (".cu",), "cuda_source", ("__global__",))
CUDA_WITH_HEADERS = Dialect("CUDA", (".cu", ".cuh"), "cuda_source", ("__global__",))
"""For pairs of sources alone, which need not be programs."""
OPENCL = Dialect("OpenCL", (".cl",), "opencl_source", ("__kernel", "kernel"))


def dialect_of(row: Mapping[str, Any]) -> Dialect:
    """The language of ``row``: OpenCL where it has OpenCL source and no CUDA source."""
    return OPENCL if row.get("opencl_source") and not row.get("cuda_source") else CUDA


def source_of(row: Mapping[str, Any]) -> str:
    """The source that ``row`` was read from; empty for a row that could not be read."""
    return str(row.get(dialect_of(row).column) or "")
