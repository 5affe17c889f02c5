"""CUDA files that are parts of others, which include them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterable

from cass_ray.corpus.reading.filetree import FileProblemError, FileTree
from cass_ray.corpus.reading.include_paths import HEADER_SUFFIXES
from cass_ray.corpus.reading.includes import join_inside, scan_includes

_INCLUDED = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+\.cu)[">]', re.MULTILINE)
_INCLUDING = (".cu", ".cpp", ".cc", ".cxx", ".c", *HEADER_SUFFIXES)


def fragments(
    tree: FileTree, compiled: Container[str], largest: int, folders: Iterable[str]
) -> dict[str, str]:
    """Each ``.cu`` file of ``tree`` that is not ``compiled`` but part of a file that is, and the
    file that includes it.

    Included files are looked for beside the other file, then in ``folders``. Files of more than
    ``largest`` bytes are not read.
    """
    places = tuple(folders)
    inside: dict[str, list[str]] = {}
    for listed in tree.walk():
        if listed.problem is None and listed.path.lower().endswith(_INCLUDING):
            for name in _names(tree, listed.path, largest):
                for folder in (posixpath.dirname(listed.path), *places):
                    path = join_inside(folder, name)
                    if path and tree.is_file(path):
                        inside.setdefault(listed.path, []).append(path)
                        break
    parts: dict[str, str] = {}
    left = [path for path in inside if path in compiled]
    while left:
        includer = left.pop()
        for path in inside.get(includer, ()):
            if path not in parts and path not in compiled:
                parts[path] = includer
                left.append(path)
    return parts


def _names(tree: FileTree, path: str, largest: int) -> list[str]:
    try:
        data = tree.read(path) if tree.size(path) <= largest else b""
    except FileProblemError:
        return []
    return [each.decode(errors="replace") for each in _INCLUDED.findall(data)]


def implementations(tree: FileTree, largest: int) -> dict[str, str]:
    """Each ``.cu`` file of ``tree`` that a header includes as its second half, and that header.

    Of a project whose commands are not known: what includes that header itself, or nothing at all,
    is compiled where the header is.
    """
    parts: dict[str, str] = {}
    files = [each.path for each in tree.walk() if each.problem is None]
    for header in (path for path in files if path.lower().endswith(HEADER_SUFFIXES)):
        for name in _names(tree, header, largest):
            beside = join_inside(posixpath.dirname(header), name)
            path = beside if beside and tree.is_file(beside) else _ending(files, name)
            if path and path not in parts and _is_half(tree, path, header, largest):
                parts[path] = header
    return parts


def included_by_others(tree: FileTree, largest: int) -> dict[str, str]:
    """Each ``.cu`` file of ``tree`` that another file includes, and the first that does."""
    files = [each.path for each in tree.walk() if each.problem is None]
    found: dict[str, str] = {}
    for includer in (path for path in files if path.lower().endswith(_INCLUDING)):
        for name in _names(tree, includer, largest):
            beside = join_inside(posixpath.dirname(includer), name)
            path = beside if beside and tree.is_file(beside) else _ending(files, name)
            if path and path != includer:
                found.setdefault(path, includer)
    return found


def _ending(files: Iterable[str], name: str) -> str:
    """The only one of ``files`` whose path ends in ``name``; else empty."""
    found = [path for path in files if f"/{path}".endswith(f"/{posixpath.normpath(name)}")]
    return found[0] if len(found) == 1 else ""


def _is_half(tree: FileTree, path: str, header: str, largest: int) -> bool:
    try:
        data = tree.read(path) if tree.size(path) <= largest else b""
    except FileProblemError:
        return False
    includes = scan_includes(data.decode(errors="replace"))
    included = {posixpath.basename(each.name) for each in includes}
    return bool(data) and (not included or posixpath.basename(header) in included)
