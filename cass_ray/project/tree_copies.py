"""Trees of a port's files: brought from one folder into another, whatever a build left there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from cass_ray.corpus.reading.filetree import SKIPPED_FOLDERS
from cass_ray.translate.project.tree import STATE, source_files
from cass_ray.whole_file import write_whole

_LIST = ".cass-files"
"""Beside a tree: what was brought into it."""


def synchronize(source: Path, target: Path) -> list[str]:
    """Bring the files of ``source`` into ``target``; returns which were written.

    What an earlier call brought and ``source`` no longer has is removed.

    Those that are the same keep their time.

    Files that only ``target`` has stay, for they are what a build made: build systems compile
    again what changed. Links that a build has put in the place of a file or a folder go: through
    them files outside of ``target`` would be written.
    """
    written = []
    brought = []
    for path in source_files(source):
        name = path.relative_to(source)
        if name.as_posix() == STATE:
            continue
        brought.append(name.as_posix())
        own_folder(target, name.parent)
        copy = target / name
        _make_way(copy)
        if copy.is_file() and _same(path, copy):
            continue
        shutil.copyfile(path, copy)
        shutil.copymode(path, copy)
        written.append(name.as_posix())
    brought += copy_links(source, target)
    written += _drop_what_is_gone(target, brought)
    return written


def _drop_what_is_gone(target: Path, brought: list[str]) -> list[str]:
    """Remove files and links that the last list beside ``target`` has and ``brought`` has not."""
    note = note_of(target)
    try:
        before = set(note.read_text("utf-8", "surrogateescape").split("\0"))
    except OSError:
        before = set()
    gone = sorted(before - set(brought) - {""})
    root = target.resolve()
    for name in gone:
        place = target / name
        if place.parent.resolve().is_relative_to(root) and (place.is_file() or place.is_symlink()):
            place.unlink()
    write_whole(note, "\0".join(brought).encode("utf-8", "surrogateescape"))
    return gone


def note_of(tree: Path) -> Path:
    """The file beside ``tree`` that lists what :func:`synchronize` brought into it."""
    return tree.with_name(f"{tree.name}{_LIST}")


def keep_what_is_in(root: Path, tree: Path) -> None:
    """Remove files and links of ``tree``, a copy of ``root``, that are none of ``root``."""
    for folder, folders, names in os.walk(tree):
        for name in (*folders, *names):
            place = Path(folder) / name
            there = root / place.relative_to(tree)
            is_file = place.is_file() and there.is_file()
            same = is_file and place.is_symlink() == there.is_symlink()
            if (name in names or place.is_symlink()) and not same and place != tree / STATE:
                place.unlink()


def copy_links(source: Path, target: Path) -> list[str]:
    """Make the symbolic links of ``source`` in ``target``: those that stay inside, as they are.

    Returns their names.
    """
    root = source.resolve()
    brought = []
    for folder, folders, names in os.walk(source):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        for name in (*folders, *names):
            link = Path(folder) / name
            if not link.is_symlink() or not link.resolve().is_relative_to(root):
                continue
            made, to = target / link.relative_to(source), link.readlink()
            if to.is_absolute():
                continue
            brought.append(link.relative_to(source).as_posix())
            if not made.is_symlink() and not made.exists():
                own_folder(target, made.parent.relative_to(target))
                made.symlink_to(to)
    return brought


def own_folder(root: Path, name: Path) -> None:
    """Make the folder ``name`` below ``root``, no part of which is a link."""
    folder = root
    folder.mkdir(parents=True, exist_ok=True)
    for part in name.parts:
        folder /= part
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink(missing_ok=True)
        folder.mkdir(exist_ok=True)


def _make_way(path: Path) -> None:
    """Remove what is at ``path`` unless it is a file or nothing."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.is_symlink() or (path.exists() and not path.is_file()):
        path.unlink()


def _same(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()
