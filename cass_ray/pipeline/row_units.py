"""The compilation unit of a row, and what of it decides what compilers make of it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from cass_ray.corpus.dialect import source_of
from cass_ray.pipeline.provided import (
    UNIT_RECIPE,
    forced_headers,
    provided_folders,
    unit_definitions,
)
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.nvidia.hip_sources import without_own_hip
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.protocol import Translator

Row = dict[str, Any]


def unit_of(row: Row, trees: Workspace, translator: Translator | None) -> Unit:
    """The compilation unit of ``row``; with a translator, in its translated tree."""
    root = trees.original(row) if translator is None else trees.translated(row, translator)
    folders = tuple(map(PurePosixPath, row["include_directories"] or ()))
    return Unit(
        root=root,
        main=PurePosixPath(row["path"]),
        include_directories=folders if translator is None else without_own_hip(root, folders),
        definitions=unit_definitions(row, translated=translator is not None),
        system_directories=provided_folders(row.get("header_packages") or (), translator),
        forced=forced_headers(row, translated=translator is not None),
        standard=row.get("standard") or "",
    )


def unit_key(row: Row) -> list[str]:
    """What of a row decides what compilers make of it: its tree, path, source and include path."""
    key = [row["tree"], row["path"], source_of(row), *(row["include_directories"] or ())]
    definitions = [f"-D{each}" for each in row.get("definitions") or ()]
    configured = [f"configured {UNIT_RECIPE}"] if row.get("configured") else []
    definitions += [f"-include {each}" for each in row.get("forced") or ()]
    definitions += [f"-std={row['standard']}"] if row.get("standard") else []
    return [*key, *definitions, *(row.get("header_packages") or ()), *configured]
