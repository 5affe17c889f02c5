"""A unit of a project compiled for AMD, mended where clang says what nvcc does not mind.

The rules are those of :mod:`cass_ray.translate.repair`. What they change is a copy of the unit's
translated tree: another unit of the tree is compiled from the tree as it was translated.
"""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from cass_ray.cache import digest
from cass_ray.dataset.row import Reason
from cass_ray.toolchain.sandbox.isolation import private_folder
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate import repair
from cass_ray.translate.project.refusals import errors_said
from cass_ray.translate.repair.loop import (
    CompilerDiagnostic,
    apply_fixes,
    at_declarations,
    diagnostics,
)

T = TypeVar("T")

_ROUNDS = 5


@cache
def repair_fingerprint() -> str:
    """A digest of the rules, for keys of results."""
    folders = (Path(repair.__file__).parent, Path(__file__))
    files = [path for each in folders for path in sorted(each.rglob("*.py")) or [each]]
    return digest([path.read_bytes() for path in files])


def compile_repaired(unit: Unit, compile_unit: Callable[[Unit], T]) -> tuple[T, str]:
    """What ``compile_unit`` makes of ``unit``, and the text of its main file where it was mended.

    Raises the failure that was left where it cannot be mended: what no rule knows.
    """
    try:
        return compile_unit(unit), ""
    except CompileFailure as failure:
        if failure.reason is not Reason.COMPILE_ERROR or errors_said(failure.diagnostic):
            raise
        last = failure
    with private_folder() as folder:
        copy = folder / "tree"
        shutil.copytree(unit.root, copy, copy_function=_linked)
        mended = replace(unit, root=copy)
        for _ in range(_ROUNDS):
            if not _mend(copy, unit.root, diagnostics(last.diagnostic)):
                break
            try:
                return compile_unit(mended), _text(copy / unit.main)
            except CompileFailure as failure:
                last = failure
    raise last


def _mend(copy: Path, root: Path, errors: Iterable[CompilerDiagnostic]) -> bool:
    """Change the files of ``copy`` that ``errors`` are about; whether there was something to do."""
    by_file: dict[str, list[CompilerDiagnostic]] = {}
    all_errors = list(errors)
    for item in [*all_errors, *at_declarations(all_errors)]:
        name = item.file
        for place in (copy, root):
            name = name.removeprefix(f"{place}/")
        name = posixpath.normpath(name)
        if not name.startswith(("/", "../")):
            by_file.setdefault(name, []).append(item)
    changed = False
    for name, items in by_file.items():
        file = copy / name
        if not file.is_file():
            continue
        before = _text(file)
        after, fixes = apply_fixes(before, items)
        if fixes and after != before:
            file.unlink()  # a link to the tree of others
            file.write_text(after, "utf-8", errors="surrogateescape", newline="")
            changed = True
    return changed


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")
