"""A view of ``/usr`` with packages laid over it: to a build they look installed.

Folders that both have are merged by links, all others are linked whole; nothing is copied.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

HOST = Path("/cass/host")
"""Where a build sees the host's ``/usr``."""
PACKAGES = Path("/cass/packages")
"""Where it sees each package, by the name of its folder."""

_LIBRARY = "/* stands for a library whose package is not unpacked */\n"
_SKIPPED = frozenset({"share/doc", "share/man", "share/locale", "share/info"})


def merge_system(target: Path, packages: Sequence[Path]) -> None:
    """Fill ``target`` with links such that it shows ``/usr`` and each package's ``usr``.

    A file of the host goes before a package's. The links are right where the host is seen at
    :data:`HOST` and the packages below :data:`PACKAGES`.
    """
    layers = [(Path("/usr"), HOST)]
    layers += [(root / "usr", PACKAGES / root.name / "usr") for root in packages]
    layers = [layer for layer in layers if layer[0].is_dir()]
    _merge(target, layers, "", [real for real, _ in layers])


def _merge(
    target: Path, layers: Sequence[tuple[Path, Path]], inside: str, roots: Sequence[Path]
) -> None:
    target.mkdir(exist_ok=True)
    names: dict[str, list[tuple[Path, Path]]] = {}
    for real, shown in layers:
        for entry in os.scandir(real):
            names.setdefault(entry.name, []).append((real / entry.name, shown / entry.name))
    for name, places in names.items():
        below = f"{inside}/{name}" if inside else name
        if below in _SKIPPED:
            continue
        real, shown = places[0]
        folders = [place for place in places if place[0].is_dir()]
        is_loop = any(place[0].is_symlink() and _leads_to_itself(place[0]) for place in folders)
        if len(places) > 1 and real.is_dir() and len(folders) > 1 and not is_loop:
            _merge(target / name, folders, below, roots)
        elif _is_library_of_no_package(real, roots):
            (target / name).write_text(_LIBRARY)
        else:
            (target / name).symlink_to(shown)


def _leads_to_itself(link: Path) -> bool:
    """Whether ``link`` leads to a folder that it lies in (``llvm-14/build/Release``)."""
    return link.parent.resolve().is_relative_to(link.resolve())


def _is_library_of_no_package(path: Path, roots: Sequence[Path]) -> bool:
    """Whether ``path`` links to a shared library below ``/usr`` that no root has: it is only looked
    for, and its development package alone is here."""
    if ".so" not in path.name or not path.is_symlink():
        return False
    link = str(path.readlink())
    if not link.startswith("/usr/"):
        return False
    return not any(os.path.lexists(root / link.removeprefix("/usr/")) for root in roots)
