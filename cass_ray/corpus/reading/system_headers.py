"""Tells headers of the toolchain from headers of the program, by name.

An unresolved ``#include "cuda_runtime.h"`` is not a missing file: the toolchain has it. The names
are data, in ``system_headers.yaml``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from cass_ray.config import StrictModel

_TABLE = Path(__file__).with_name("system_headers.yaml")


class _Table(StrictModel):
    names: dict[str, list[str]]
    prefixes: list[str]
    c_library_folders: list[str]


@cache
def _known() -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    table = _Table.model_validate(yaml.safe_load(_TABLE.read_text(encoding="utf-8")))
    names = frozenset(f"{name}.h" for group in table.names.values() for name in group)
    return names, tuple(table.prefixes), tuple(table.c_library_folders)


def standard_headers() -> frozenset[str]:
    """The headers that are in every installation by exactly these names, of no folder."""
    return _known()[0]


def is_standard_header(name: str) -> bool:
    """Whether ``name`` is a header of exactly this name in every installation (``math.h``).

    A name without an extension or a folder is one of the C++ library (``vector``).
    """
    names, _, folders = _known()
    return name in names or name.startswith(folders) or ("." not in name and "/" not in name)


def is_system_header(name: str) -> bool:
    """Whether ``name`` looks like a header of the compiler, its libraries or the toolkit."""
    return is_standard_header(name) or name.startswith(_known()[1])
